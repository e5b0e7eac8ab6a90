import { describe, expect, it } from 'vitest'
import { Driver, inRun, underReview } from '../../../test/support/domain.ts'
import type { Check, CheckResult } from '../proof/check.ts'
import type { EventData } from '../model/event.ts'
import { nextRun } from '../proof/check-runs.ts'
import { type Receipt, receiptOf } from './receipt.ts'

const NPM: Check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h-npm' }
const TICK: Check = { kind: 'person', ask: 'Looks right?', id: 'c2', hash: 'h-tick' }
const OTHER: Check = { kind: 'file', path: 'a.md', id: 'c3', hash: 'h-file' }
const WORKSPACE = { machine: 'here', path: '/work' }

const receipt = ({ state, log }: Driver, turn = 'turn-1'): Receipt | undefined => receiptOf(state, log, turn)

/** A confirmed plan of an agent elsewhere. Of its checks only `npm test` is approved. */
function planned(): Driver {
  const chat = new Driver()
  chat.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'runsheet', workspace: WORKSPACE, client: 'a host' })
  chat.run(chat.adds('model', { title: 'A', checks: [NPM, TICK, OTHER] }, 'B', 'C'))
  const a = { draft_index: 0, approve: [NPM.hash] }
  chat.run(chat.confirms([{ draft_index: 1, title: 'Bb', criteria: 'It is blue' }, a, { title: 'D' }]))
  chat.answer()
  return chat
}

function runNext(chat: Driver, result: CheckResult, exit: number, turn_id = 'turn-1'): void {
  const next = nextRun(chat.state, turn_id)
  if (!next) throw new Error('nothing is to be run')
  const run = { turn_id, run_id: `run-${chat.id()}`, hash: next.check.hash }
  chat.run({ type: 'start_check', ...run, why: next.why })
  chat.run({ type: 'end_check', ...run, outcome: { result, exit, duration_ms: 5, tail: 'secret output' } })
}

describe('a receipt', () => {
  it('there is none without a plan', () => {
    const chat = underReview('A')
    expect(receipt(chat)).toBeUndefined()
    expect(receipt(chat, 'nowhere')).toBeUndefined()
  })

  it('[RC8] counts every step, also those that are cancelled or blocked', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B', 'C', 'D'))
    for (const [at, status] of (['completed', 'cancelled', 'blocked'] as const).entries()) {
      chat.run(chat.sets('person', at + 1, { status }))
    }
    expect(receipt(chat)?.tally).toMatchObject({ done: 1, cancelled: 1, blocked: 1, open: 1, of: 4 })
  })

  it('[RC8] says what the person changed in the plan', () => {
    expect(receipt(planned())).toMatchObject({
      format: 'runsheet-receipt',
      version: 1,
      session_id: 'chat-1',
      turn_id: 'turn-1',
      request: null,
      worker: 'a host',
      workspace: WORKSPACE,
      status: 'open',
      finished_at: null,
      reviews: [
        {
          action: 'confirm',
          changes: {
            kept: 1,
            edited: [{ from: 'B', to: 'Bb', fields: ['title', 'criteria'] }],
            added: ['D'],
            removed: ['C'],
            reordered: true,
          },
        },
      ],
      tally: { done: 0, of: 3, standings: { proven: 0, confirmed: 0, judged: 0, reported: 0 } },
    })
  })

  it('[RC8] has each check with its approval, how it stood at the start, and every run, without output', () => {
    const chat = planned()
    runNext(chat, 'failed', 1)
    chat.run({ type: 'tick_check', task: 2, check_id: TICK.id })
    const [, a] = receipt(chat)?.steps ?? []
    expect(a?.checks).toMatchObject([
      {
        check: 'npm test',
        spec: { kind: 'command', run: ['npm', 'test'] },
        approved: { via: 'review' },
        baseline: 'failed',
        state: 'failed',
        runs: [{ why: 'baseline', result: 'failed', exit: 1, duration_ms: 5, reason: null }],
      },
      { check: 'Looks right?', approved: { via: 'tick' }, state: 'passed', runs: [] },
      { check: 'a.md exists', approved: null, state: 'waiting', baseline: 'not_run', runs: [] },
    ])
    expect(JSON.stringify(receipt(chat))).not.toContain('secret output')
  })

  it('[RC8] has the verdicts, a person’s edits, and the calls of outside tools by step', () => {
    const chat = inRun({ review: true, assessor: true })
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.confirms([{ draft_index: 0 }, { draft_index: 1 }]))
    const [a, b] = [chat.task(1).id, chat.task(2).id]
    called(chat, 'call-1', a, 'search', true)
    called(chat, 'call-2', a, 'search', false)
    called(chat, 'call-3', undefined, 'fetch', true)
    called(chat, 'call-4', b, 'update', true, 'turn')
    chat.run(chat.assesses(1, { verdict: 'not_ok', reason: 'no proof' }))
    chat.run(chat.sets('person', 1, { status: 'completed', outcome: 'Seen' }))
    expect(receipt(chat)).toMatchObject({
      request: 'Do it',
      worker: 'demo:one',
      steps: [
        {
          standing: 'confirmed',
          outcome: 'Seen',
          reasons: ['a person settled it'],
          verdicts: [{ verdict: 'not_ok', reason: 'no proof', model: 'demo:judge', fenced: false }],
          edits: [{ fields: ['status', 'outcome'], by: null }],
          calls: { ok: 1, failed: 1, tools: { search: { ok: 1, failed: 1 } } },
        },
        { standing: null, reasons: [], calls: { ok: 0, failed: 0, tools: {} } },
      ],
      calls: { ok: 1, failed: 0, tools: { fetch: { ok: 1, failed: 0 } } },
      tally: { done: 1, of: 2, standings: { confirmed: 1 } },
    })
  })
})

it('lists what a host and an agent report of their own tools, by who says so', () => {
  const chat = planned()
  const call = { tool: 'Bash', arguments: { command: 'npm test' }, answer: 'ok 40', ok: true }
  const report = (more: object) =>
    chat.run({ type: 'add_evidence', evidence_id: chat.id(), source: 'agent', ...call, ...more })
  report({ source: 'host' })
  report({ ok: false, answer: '1 failed' })
  for (let count = 0; count < 30; count += 1) report({ tool: 'Read' })
  report({ task: 2, tool: 'Write' })
  const [first, second] = receipt(chat)?.steps ?? []
  expect(first?.reports).toEqual({
    host: { ok: 1, failed: 0, tools: { Bash: { ok: 1, failed: 0 } } },
    agent: { ok: 30, failed: 1, tools: { Bash: { ok: 0, failed: 1 }, Read: { ok: 30, failed: 0 } } },
  })
  expect(first?.reported).toHaveLength(20)
  expect(first?.reported[0]).toMatchObject({ ...call, source: 'agent', ok: false, answer: '1 failed' })
  expect(second?.reported).toMatchObject([{ tool: 'Write', source: 'agent' }])
})

/** A model calls a tool while a task is current, and is answered. */
function called(
  chat: Driver,
  tool_call_id: string,
  task_id: string | undefined,
  tool: string,
  ok: boolean,
  edge?: 'turn',
): void {
  const step: EventData['step_finished'] = {
    step: 1,
    message_id: `message-${tool_call_id}`,
    text: '',
    tool_calls: [{ tool_call_id, tool, arguments: {} }],
    usage: {},
    digest_seq: 0,
    ...(task_id === undefined ? {} : { task_id }),
  }
  const answer = { tool_call_id, tool, result: null, duration_ms: 1, ok, ...(edge ? { edge } : {}) }
  chat.run({ type: 'record', turn_id: 'turn-1', fact: { type: 'step_finished', data: step } })
  chat.run({ type: 'record', turn_id: 'turn-1', fact: { type: 'tool_answered', data: answer } })
}

it('[TC12] a receipt has the runs of its checks in a later turn', () => {
  const chat = planned()
  runNext(chat, 'failed', 1)
  chat.run({ type: 'open_turn', turn_id: 'turn-2', workspace: WORKSPACE })
  chat.run({ type: 'request_check', task: 2, check_id: NPM.id })
  runNext(chat, 'passed', 0, 'turn-2')
  const [, step] = receipt(chat)?.steps ?? []
  expect(step?.checks[0]?.runs.map(({ why }) => why)).toEqual(['baseline', 'person'])
})
