import { describe, expect, it } from 'vitest'
import { Driver, inRun, outside, underReview } from '../../../test/support/domain.ts'
import type { Check } from '../proof/check.ts'
import { planStatus, type PlanStatus } from './plan-status.ts'

const NPM: Check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h-npm' }
const TICK: Check = { kind: 'person', ask: 'Looks right?', id: 'c2', hash: 'h-tick' }

const statusOf = (chat: Driver): PlanStatus => {
  const status = planStatus(chat.state, chat.now)
  if (!status) throw new Error('there is no plan')
  return status
}

/** A confirmed task with this check, which an agent elsewhere claims to have done. */
function claimed(check: Check): Driver {
  const chat = new Driver()
  const workspace = { machine: 'here', path: '/work' }
  chat.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'runsheet', host: {}, workspace })
  chat.run(chat.adds('model', { title: 'A', checks: [check] }))
  chat.run(chat.confirms([{ draft_index: 0, approve: check.kind === 'person' ? [] : [check.hash] }]))
  if (check.kind !== 'person') runs(chat, 'baseline', 'run-0', 'failed')
  const claim = {
    claim_id: 'claim-1',
    task_id: chat.task(1).id,
    status: 'completed',
    outcome: 'Done',
    seal: 's',
  } as const
  chat.run({
    type: 'make_claims',
    turn_id: 'turn-1',
    tool_call_id: 'call-9',
    basis: chat.state.seq,
    claims: [claim],
    held: { toolset: 'runsheet', edit: {}, items: 0 },
  })
  return chat
}

function runs(chat: Driver, why: 'baseline' | 'claim', run_id: string, result: 'failed' | 'passed'): void {
  const ref = { turn_id: 'turn-1', run_id, hash: NPM.hash }
  chat.run({ type: 'start_check', ...ref, why })
  chat.run({ type: 'end_check', ...ref, outcome: { result, exit: 1, duration_ms: 5, fingerprint: 'f1' } })
}

describe('the status of a plan', () => {
  it('is nothing without tasks and without a review', () => {
    expect(planStatus(outside().state, '2026-11-02T09:00:00.000Z')).toBeUndefined()
  })

  it('counts what is done, open, blocked and cancelled', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A', 'B', 'C', 'D'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Done.' }))
    chat.run(chat.sets('model', 2, { status: 'blocked', outcome: 'No key.' }))
    chat.run(chat.sets('person', 4, { status: 'cancelled' }))
    const { tasks, ...counts } = statusOf(chat)
    expect(counts).toMatchObject({ done: 1, of: 4, open: 1, blocked: 1, cancelled: 1, standings: { reported: 1 } })
    expect(tasks.map(({ status, standing }) => [status, standing])).toEqual([
      ['completed', 'reported'],
      ['blocked', null],
      ['in_progress', null],
      ['cancelled', null],
    ])
  })

  it('has the reviews that wait, and not one whose time is over', () => {
    const chat = underReview('A', 'B')
    expect(statusOf(chat).reviews).toMatchObject([
      { review_id: 'review-1', draft_tasks: [{ title: 'A' }, { title: 'B' }] },
    ])
    expect(planStatus(chat.state, chat.wait(120_000).now)).toBeUndefined()
  })

  it('says which check of a claim runs, and when only the judge is left', () => {
    const chat = claimed(NPM)
    expect(statusOf(chat).checking).toEqual([{ task: 1, check: 'npm test', why: 'claim', running: false }])
    chat.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'run-1', hash: NPM.hash, why: 'claim' })
    expect(statusOf(chat).checking).toMatchObject([{ check: 'npm test', running: true }])
    const outcome = { result: 'passed', exit: 0, duration_ms: 5, fingerprint: 'f2' } as const
    chat.run({ type: 'end_check', turn_id: 'turn-1', run_id: 'run-1', hash: NPM.hash, outcome })
    expect(statusOf(chat).checking).toMatchObject([{ task: 1, check: null }])
  })

  it('says what a person has to tick', () => {
    expect(statusOf(claimed(TICK))).toMatchObject({ checking: [], ticks: [{ task: 1, ask: 'Looks right?' }] })
  })

  it('is about the plan of the turn where the toolset is', () => {
    const chat = inRun({ toolset: 'turn_todos' })
    chat.run(chat.adds('model', 'A'))
    chat.finish('turn-1')
    chat.start('turn-2', { toolset: 'turn_todos', review: false, assessor: false, gate: false })
    chat.run(chat.adds('model', 'B'))
    expect(statusOf(chat).tasks.map(({ title }) => title)).toEqual(['B'])
  })
})
