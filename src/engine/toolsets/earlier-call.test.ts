import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { plainMaker } from '../door/checks.ts'
import { type Door, openDoor } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { Desk } from '../../../test/support/desk.ts'
import { runsheet } from './runsheet.ts'
import { settleCall } from './settle-call.ts'

const PLAN = { tasks: [{ title: 'A' }] }
const DONE = { id: 1, outcome: 'Done.' }
const NO_ID = { toolCallId: undefined }

let door: Door
afterEach(() => door.close())

describe('an equal call, while a plan waits for a person,', () => {
  let desk: Desk
  beforeEach(() => {
    door = openDoor({ store: openMemoryStore() })
    desk = new Desk(door, runsheet, { review: true, gate: false })
  })

  const isSame = async (first: unknown, more: object): Promise<boolean> =>
    JSON.stringify(await desk.take('plan', PLAN, more)) === JSON.stringify(first)

  it("joins under another id of its host, which then answers the same; under an id of its caller's own it does not", async () => {
    const first = await desk.take('plan', PLAN, { toolCallId: 'h1', isHostCallId: true })
    const again = { toolCallId: 'h2', isHostCallId: true }
    expect(await isSame(first, again)).toBe(true)
    const answer = await desk.decided(desk.call('plan', PLAN, again), {
      action: 'confirm',
      tasks: [{ draft_index: 0 }],
    })
    expect(await desk.call('plan', PLAN, again)).toEqual(answer)
    expect(await desk.statuses()).toHaveLength(1)
    expect(await isSame(first, { toolCallId: 'mine' })).toBe(false)
  })

  describe('and was reopened,', () => {
    let reopened: string
    beforeEach(async () => {
      const waiting = desk.call('plan', PLAN, { toolCallId: 'first' })
      const { review } = await desk.decide({ action: 'revise', comment: 'Later' })
      await waiting
      reopened = (await door.reviews.reopen('local', review.review_id)).review_id
    })

    it.each([
      ['without an id', NO_ID],
      ['with one', { toolCallId: 'second' }],
      ['with one of its host', { toolCallId: 'h1', isHostCallId: true }],
    ])('[RE24] joins it %s', async (_, more) => {
      expect(await desk.take('plan', PLAN, more)).toMatchObject({ review_id: reopened })
    })

    it('[RE24] is a new plan once its agent has proposed another one', async () => {
      await desk.take('plan', { tasks: [{ title: 'B' }] })
      expect(await desk.take('plan', PLAN, NO_ID)).not.toMatchObject({ review_id: reopened })
    })
  })
})

describe('an equal call, while a judge is waited for,', () => {
  let desk: Desk
  beforeEach(async () => {
    door = openDoor({ store: openMemoryStore(), checks: { ...plainMaker, judges: () => true } })
    desk = new Desk(door, runsheet, { review: false, assessor: true, gate: false })
    await desk.call('plan', { tasks: [{ title: 'A' }, { title: 'B' }] })
  })

  it.each([
    ['without an id', NO_ID],
    ['with one', { toolCallId: 'again' }],
  ])('[CM6] joins it %s', async (_, more) => {
    const first = await desk.take('update', DONE)
    expect(first).toMatchObject({ status: 'checking' })
    const { events } = await desk.written(async () => expect(await desk.take('update', DONE, more)).toEqual(first))
    expect(events).toEqual([])
  })

  it('[CM6] under an id is found by it once it is settled, and counted once', async () => {
    const again = { toolCallId: 'again' }
    const first = desk.call('update', DONE, { toolCallId: 'first' })
    const second = desk.call('update', DONE, again)
    await Promise.all([desk.take('update', DONE, { toolCallId: 'first' }), desk.take('update', DONE, again)])
    await settleCall(desk.context(), { turn_id: 't1', tool_call_id: 'first' }, { ended: 'no_judge' })
    expect(await second).toEqual(await first)
    expect(await desk.call('update', DONE, again)).toEqual(await first)
    expect((await desk.logged()).filter(type => type === 'claim_made')).toHaveLength(1)
  })

  it('[CM6] is refused in another turn: it may mean another task there', async () => {
    await desk.take('update', DONE)
    expect(JSON.stringify(await desk.in('t2').call('update', DONE))).toContain('Task 1 is being checked')
  })
})
