import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { EventData, StoredEvent } from '../../src/core/model/event.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { PATIENCE } from '../support/reviews.ts'
import type { Answer } from '../support/provider.ts'
import { placeFor } from '../support/stores.ts'
import { MODEL, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const HOST = { assessor: false, review_timeout_ms: 1 } as const
const plan = (...titles: readonly string[]): Answer => ({
  calls: [{ tool: 'plan', args: { tasks: titles.map(title => ({ title })) } }],
})
const update = (id: number, outcome: string): Answer => ({ calls: [{ tool: 'update', args: { id, outcome } }] })

async function started(options: TurnsOptions = {}): Promise<TestTurns> {
  const turns = await startTurns(options)
  onTestFinished(turns.close)
  return turns
}

/** Reopens the review of the first turn, which has timed out, and gives the person all the time that they need. */
async function reopened({ person }: TestTurns): Promise<string> {
  const [expired] = (await person.session('c1')).reviews
  await person.setPolicy('c1', { review_timeout_ms: null })
  const { review } = await person.reopen(expired?.review_id ?? '')
  expect(review).toMatchObject({ reopens: expired?.review_id, status: 'pending', expires_at: null })
  return review.review_id
}

const finishedTurns = (log: readonly StoredEvent[]): EventData['turn_finished'][] =>
  log.flatMap(event => (event.type === 'turn_finished' ? [event.data] : []))

const ended = (turns: TestTurns, count: number): Promise<EventData['turn_finished'][]> =>
  vi.waitFor(async () => {
    const finished = finishedTurns(await turns.log())
    expect(finished).toHaveLength(count)
    return finished
  }, PATIENCE)

describe('a plan that timed out in our own turn, and is reopened once that is over', () => {
  it('confirmed, its tasks are written in one commit with a turn that goes on, without asking the model for a plan', async () => {
    const turns = await started({
      host: HOST,
      answers: [plan('a', 'b'), 'As you like.', update(1, 'did a'), update(2, 'did b'), 'All done.'],
    })
    await turns.chat()
    expect(await turns.tasks()).toEqual([])
    const id = await reopened(turns)
    const { turn_id, result } = await turns.person.decide(id, {
      action: 'confirm',
      tasks: [{ draft_index: 0, title: 'a2' }, { draft_index: 1 }],
    })
    expect(turn_id).toEqual(expect.any(String))
    expect(result).toMatchObject({ ids: [1, 2], next: '1 a2', remaining: 2 })
    expect(await ended(turns, 2)).toMatchObject([{}, { turn_id, status: 'done' }])
    expect(await turns.statuses()).toEqual([
      ['a2', 'completed'],
      ['b', 'completed'],
    ])
    const log = await turns.log()
    const start = log.findLast(({ type }) => type === 'turn_started')
    expect(start?.data).toMatchObject({ turn_id, model: MODEL, message: 'Go on with the plan I approved.' })
    const commit = log.filter(({ timestamp }) => timestamp === start?.timestamp).map(({ type }) => type)
    expect(commit).toEqual(['task_created', 'task_created', 'task_create_review_resolved', 'turn_started'])
    expect(log.filter(({ type }) => type === 'task_create_review_required')).toHaveLength(2)
  })

  it('sent back, the model is asked in a new turn to change it', async () => {
    const turns = await started({ host: HOST, answers: [plan('a'), 'As you like.', 'What should it be?'] })
    await turns.chat()
    const id = await reopened(turns)
    const { turn_id } = await turns.person.decide(id, { action: 'revise', comment: 'Start with the tests' })
    expect(await ended(turns, 2)).toMatchObject([{}, { turn_id }])
    expect(JSON.stringify(turns.provider.asked.at(-1)?.request.messages)).toContain(
      'Change the plan: Start with the tests',
    )
  })

  it('rejected, no turn is started', async () => {
    const turns = await started({ host: HOST, answers: [plan('a'), 'As you like.'] })
    await turns.chat()
    const id = await reopened(turns)
    expect(await turns.person.decide(id, { action: 'cancel' })).not.toHaveProperty('turn_id')
    expect((await turns.person.session('c1')).turns).toHaveLength(1)
  })

  it('while another turn runs the confirm is 409 turn_running, and the review waits on', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const turns = await started({
      host: { ...HOST, gate: false },
      answers: [plan('a'), 'As you like.', { text: 'Hm.', after: promise }, 'Going on.'],
    })
    await turns.chat()
    const id = await reopened(turns)
    const other = await turns.open({ turn_id: 't2', message: 'Something else' })
    const confirm = () => turns.person.decide(id, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    await expect(confirm()).rejects.toMatchObject({ status: 409, code: 'turn_running' })
    expect((await turns.person.pendingReviews('c1')).reviews).toHaveLength(1)
    resolve()
    await other.over
    const { turn_id } = await confirm()
    expect(await ended(turns, 3)).toMatchObject([{}, { turn_id: 't2' }, { turn_id }])
  })

  it('[RE26] while the turn that asked still runs, reopening is 409 turn_running', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const turns = await started({ host: HOST, answers: [plan('a'), { text: 'Hm.', after: promise }] })
    const reader = await turns.open()
    await reader.reached('tool_answered')
    const [expired] = (await turns.person.session('c1')).reviews
    await expect(turns.person.reopen(expired?.review_id ?? '')).rejects.toMatchObject({ code: 'turn_running' })
    resolve()
    await reader.over
    await turns.person.reopen(expired?.review_id ?? '')
  })

  it('another process goes on if the one that took the decision is gone', async () => {
    const place = await placeFor('sqlite', '')
    onTestFinished(place.remove)
    const open = async () => openDoor({ store: await place.open() })
    const turns = await startTurns({ host: HOST, door: await open(), answers: [plan('a'), 'As you like.'] })
    await turns.chat()
    const id = await reopened(turns)
    await turns.stopRunner()
    const { turn_id } = await turns.person.decide(id, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    await turns.close()
    const next = await started({ door: await open(), answers: [update(1, 'did a'), 'Done.'] })
    expect(await ended(next, 2)).toMatchObject([{}, { turn_id, status: 'done' }])
    expect(await next.statuses()).toEqual([['a', 'completed']])
  })
})
