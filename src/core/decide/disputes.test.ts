import { describe, expect, it } from 'vitest'
import { dataOf, type Driver, inRun, outside, SOME_MODEL, START } from '../../../test/support/domain.ts'
import type { Check } from '../proof/check.ts'
import type { Command } from '../model/command.ts'
import { type Dispute, MAX_DISPUTES, unheardAnswers } from '../proof/dispute.ts'
import { planDigest, gateText } from '../views/digest.ts'
import { heldPlan } from '../views/gate.ts'
import { noticeOf } from '../views/notice.ts'
import { planOf } from '../model/plan.ts'
import { planStatus } from '../views/plan-status.ts'
import { type Receipt, receiptOf } from '../views/receipt.ts'
import type { Refusal } from '../model/refusal.ts'
import { markOf } from '../views/session-list.ts'
import { standingsOf } from '../proof/standing.ts'

const NPM: Check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h-npm' }
const WORKSPACE = { machine: 'here', path: '/work' }
const WHY = 'The test wants 3, the task says 4. Tried both.'

const disputes = (chat: Driver, task = 1, fields: { outcome?: string } = { outcome: WHY }): Command =>
  chat.edits('model', { change: [{ task, fields, disputes: true }] })

const insists = (task = 1, comment?: string): Command => ({
  type: 'insist',
  task,
  comment,
  continuation: { turn_id: 'turn-9', message_id: 'message-9' },
})

/** A person insists, and the agent hears of it. */
function insisted(chat: Driver): void {
  chat.run(insists())
  chat.answer()
}

const disputeOf = (chat: Driver, task = 1): Dispute | undefined => chat.task(task).dispute
const counts = ({ state }: Driver) => planOf(state, 'turn-1').counts

/** An agent elsewhere with two tasks; the first has an approved check, and is disputed. */
function disputed(): Driver {
  const chat = outside('runsheet', {})
  chat.run({ type: 'open_turn', turn_id: 'turn-2', workspace: WORKSPACE, client: 'a host', plans: true })
  chat.run(chat.adds('model', { title: 'A', criteria: 'it is 4', checks: [NPM] }, 'B'))
  chat.run(chat.confirms([{ draft_index: 0, approve: [NPM.hash] }, { draft_index: 1 }]))
  chat.answer()
  chat.run(disputes(chat))
  chat.answer()
  return chat
}

/** The same in a turn of ours, where nothing else is open. */
function inOurs(): Driver {
  const chat = inRun({ gate: true })
  chat.run(chat.adds('model', 'A'))
  chat.run(disputes(chat))
  chat.answer()
  return chat
}

describe('a dispute', () => {
  it('[DS1] blocks the task, with who disputed what, and hands on to the next', () => {
    const chat = disputed()
    expect(chat.task(1)).toMatchObject({
      status: 'blocked',
      outcome: WHY,
      dispute: { reason: WHY, by: 'a host', at: START, count: 1 },
    })
    expect(chat.statuses()).toEqual(['blocked', 'in_progress'])
    expect(disputeOf(inOurs())?.by).toBe(SOME_MODEL)
  })

  it.each([{}, { outcome: '' }, { outcome: ' \n' }])(
    '[DS1] needs a reason: %j is refused, and changes nothing',
    said => {
      const chat = inRun()
      chat.run(chat.adds('model', 'A'))
      expect(chat.refusal(disputes(chat, 1, said))).toMatchObject({
        code: 'outcome_required',
        message: 'Task 1 needs an outcome to become disputed: say why, and what was tried.',
      })
      expect(disputeOf(chat)).toBeUndefined()
    },
  )

  it('[DS1] is no claim: no check or judge is asked, and none is counted as failed', () => {
    const chat = disputed()
    expect(chat.log.some(({ type }) => type === 'claim_made')).toBe(false)
    expect([chat.state.proof.get(chat.task(1).id)?.reds, chat.state.rejections.size]).toEqual([0, 0])
  })

  it('[DS1] of a task that is being checked, or is settled, is refused', () => {
    const chat = disputed()
    chat.holds(chat.sets('model', 1, { status: 'completed', outcome: 'Done' }))
    expect(chat.refusal(disputes(chat))).toMatchObject({ code: 'claim_open' })
    chat.run(chat.sets('person', 2, { status: 'completed' }))
    chat.answer()
    expect(chat.refusal(disputes(chat, 2))).toMatchObject({ code: 'status_not_allowed' })
  })

  it('[DS1] of a blocked task is one; said again while it waits, it has the newer words and is not another one', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'Stuck' }))
    chat.run(disputes(chat))
    chat.run(disputes(chat, 1, { outcome: 'Better words' }))
    expect(disputeOf(chat)).toMatchObject({ count: 1, reason: 'Better words' })
    expect(chat.log.flatMap(event => noticeOf(event) ?? [])).toHaveLength(1)
  })

  it(`[DS2] a task has ${MAX_DISPUTES}; then only a person moves it`, () => {
    const chat = disputed()
    insisted(chat)
    chat.run(disputes(chat))
    chat.answer()
    expect(disputeOf(chat)).toMatchObject({ count: 2 })
    const spent = (refusal: Refusal): unknown => expect(refusal).toMatchObject({ code: 'disputes_spent' })
    for (const status of ['in_progress', 'pending', 'cancelled', 'completed'] as const)
      spent(chat.refusal(chat.sets('model', 1, { status, outcome: 'Done' })))
    spent(chat.refusal(chat.removes('model', 1)))
    insisted(chat)
    const third = chat.refusal(disputes(chat))
    spent(third)
    expect(third.message).toBe(
      'Task 1 was disputed 2 times: only a person moves it now. Go on with the others, and say in your answer what is in the way.',
    )
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'Cannot' }))
    expect(chat.task(1).status).toBe('blocked')
  })

  it('[DS2] the first one can be taken back by doing the task after all, but not by removing it', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    chat.run(disputes(chat))
    expect(chat.refusal(chat.removes('model', 1))).toMatchObject({ code: 'disputes_spent' })
    chat.run(chat.sets('model', 1, { status: 'in_progress' }))
    expect(disputeOf(chat)?.ended).toEqual({ how: 'withdrawn', at: START })
    expect(unheardAnswers(chat.state)).toEqual([])
  })

  it('[DS3] is counted apart, also for a reader of the status', () => {
    const chat = disputed()
    expect(planOf(chat.state, 'turn-2').counts).toMatchObject({ blocked: 0, disputed: 1, open: 1 })
    expect(planStatus(chat.state, START)).toMatchObject({
      blocked: 0,
      disputed: 1,
      disputes: [{ task: 1, title: 'A', reason: WHY }],
    })
    expect(planDigest(chat.state)).toContain('0 of 2 done; 1 disputed.')
    expect(planDigest(chat.state)).toContain('Disputed, so they wait for the user: 1 "A".')
  })

  it.each([true, false])('[DS3] a plan does not end as done while one waits, with the gate %j', gate => {
    const chat = inRun({ gate })
    chat.run(chat.adds('model', 'A'))
    chat.run(disputes(chat))
    const [finished] = dataOf(chat.finish('turn-1'), 'turn_finished')
    expect(finished).toMatchObject({ status: 'incomplete', remaining: 0, counts: { disputed: 1, blocked: 0 } })
  })

  it('[DS3] the gate does not send an agent back to a disputed task, only to the others', () => {
    const chat = disputed()
    expect(heldPlan(chat.state, chat.log)?.open.map(({ number }) => number)).toEqual([2])
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'Done' }))
    expect(heldPlan(chat.state, chat.log)).toBeUndefined()
  })

  it('[DS4] calls the person: a mark of the conversation, and a notice with ids only', () => {
    const chat = disputed()
    expect(markOf(chat.state)).toBe('waiting')
    expect(chat.log.flatMap(event => noticeOf(event) ?? []).at(-1)).toEqual({
      type: 'dispute_waiting',
      timestamp: START,
      data: { session_id: 'chat-1', turn_id: 'turn-2', task_id: chat.task(1).id, count: 1 },
    })
    insisted(chat)
    expect(markOf(chat.state)).toBeNull()
    expect(chat.log.flatMap(event => noticeOf(event) ?? [])).toHaveLength(2)
  })

  it.each([
    ['changes what it asks for', { criteria: 'it is 3' }, 'changed', 'pending'],
    ['drops the check', { checks: [] }, 'changed', 'pending'],
    ['completes it as it is', { status: 'completed' }, 'settled', 'completed'],
    ['cancels it', { status: 'cancelled' }, 'settled', 'cancelled'],
    ['opens it again', { status: 'pending' }, 'insisted', 'pending'],
  ] as const)('[DS5] ends when a person %s', (_, fields, how, status) => {
    const chat = disputed()
    chat.wait(1_000).run(chat.sets('person', 1, fields))
    expect(chat.task(1)).toMatchObject({ status, dispute: { count: 1, ended: { how, at: chat.now } } })
    expect(planOf(chat.state, 'turn-2').counts.disputed).toBe(0)
    if (status === 'completed') expect(standingsOf(chat.state, [chat.task(1)])).toMatchObject({ confirmed: 1 })
  })

  it.each([{ outcome: 'In other words' }, { priority: 'low' }, { tags: ['x'] }] as const)(
    '[DS5] does not end by a change of %j',
    fields => {
      const chat = disputed()
      chat.run(chat.sets('person', 1, fields))
      expect(disputeOf(chat)?.ended).toBeUndefined()
    },
  )

  it('[DS5] comes back when the answer is undone', () => {
    const chat = disputed()
    const [change] = chat.run(chat.sets('person', 1, { status: 'cancelled' }))
    if (change?.type !== 'task_changed') throw new Error('nothing changed')
    chat.run({ type: 'undo_change', change })
    expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: WHY })
    expect([disputeOf(chat)?.ended, chat.state.disputed]).toEqual([undefined, [chat.task(1).id]])
  })

  it('[DS5] leaves with its task', () => {
    const chat = disputed()
    chat.run(chat.removes('person', 1))
    expect([chat.state.disputed, planOf(chat.state, 'turn-2').counts.disputed]).toEqual([[], 0])
  })
})

describe('insisting', () => {
  it('[DS5] opens the task again, and tells an agent elsewhere at the gate and once with its next answer', () => {
    const chat = disputed()
    const from = chat.log.length
    chat.run(insists(1, 'The task is right:\nuse 4.'))
    expect(disputeOf(chat)?.ended).toEqual({ how: 'insisted', at: START, comment: 'The task is right:\nuse 4.' })
    expect(chat.task(1)).toMatchObject({ status: 'pending' })
    expect(chat.log.slice(from).map(({ type }) => type)).toEqual(['task_changed'])
    expect(unheardAnswers(chat.state).map(({ number }) => number)).toEqual([1])
    const held = heldPlan(chat.state, chat.log)
    expect(held && gateText(held, 'runsheet')).toContain('1 "A": "a person insists on it: The task is right: use 4."')
    expect(planDigest(chat.state)).toContain('Open again: 1 "A": "a person insists on it')
    chat.answer()
    expect(unheardAnswers(chat.state)).toEqual([])
  })

  it('[DS5] after a turn of ours is over, another one goes on with the comment', () => {
    const chat = inOurs()
    chat.finish('turn-1')
    const events = chat.run(insists(1, 'Use 4.'))
    expect(dataOf(events, 'turn_started')).toMatchObject([
      {
        turn_id: 'turn-9',
        continue_turn_id: 'turn-1',
        message: 'Do step 1 as it is asked: A\nUse 4.',
        model: SOME_MODEL,
      },
    ])
    expect(chat.statuses('turn-9')).toEqual(['in_progress'])
  })

  it('[DS5] leaves a turn that runs, in this plan or another, to itself', () => {
    const chat = inOurs()
    expect(dataOf(chat.run(insists()), 'turn_started')).toEqual([])
    expect(counts(chat)).toMatchObject({ disputed: 0, open: 1 })
    chat.answer()
    chat.run(disputes(chat))
    chat.finish('turn-1')
    chat.start('turn-2')
    expect(dataOf(chat.run(insists()), 'turn_started')).toEqual([])
  })

  it.each([
    ['a task that is not disputed', insists(2), 'not_disputed'],
    ['no task', insists(9), 'task_not_found'],
    ['a comment that is too long', insists(1, 'x'.repeat(8_001)), 'invalid_field'],
  ] as const)('[DS5] on %s is refused', (_, command, code) => {
    expect(disputed().refusal(command)).toMatchObject({ code })
  })
})

it('the receipt tells each dispute, by whom, why, and how it ended', () => {
  const chat = disputed()
  const steps = (): Receipt['steps'] | undefined => receiptOf(chat.state, chat.log, 'turn-2')?.steps
  expect(steps()?.[0]?.disputes).toEqual([{ reason: WHY, by: 'a host', at: START, ended: null }])
  chat.wait(1_000).run(insists(1, 'Use 4.'))
  chat.answer()
  chat.run(disputes(chat, 1, { outcome: 'Still wrong' }))
  chat.run(chat.sets('person', 1, { status: 'completed' }))
  const at = chat.now
  expect(steps()?.map(each => each.disputes)).toMatchObject([
    [
      { reason: WHY, at: START, ended: { how: 'insisted', at, by: null, comment: 'Use 4.' } },
      { reason: 'Still wrong', at, ended: { how: 'settled', at, by: null, comment: null } },
    ],
    [],
  ])
})
