import { describe, expect, it } from 'vitest'
import { NPM, Plan } from '../../../test/support/checked-plan.ts'
import { cleanCheck, type Check } from './check.ts'
import { describeCheck, labelOf } from './check-text.ts'
import { HELD_OUT, forAgent, heldOutWords, textForAgent } from './held-out.ts'
import { Refusal } from '../model/refusal.ts'
import { taskOnWire } from './standing.ts'

const HIDDEN: Check = { kind: 'command', run: ['secret'], contains: 'secret', hidden: true, id: 'c9', hash: 'h-hidden' }
const SEALED = { kind: 'command', run: [HELD_OUT], hidden: true, id: 'c9', hash: 'h-hidden' }

/** A plan with one step whose checks a person wrote. */
function planned(...checks: readonly Check[]): Plan {
  const plan = new Plan({ title: 'A' })
  plan.run({ type: 'edit_tasks', by: 'person', change: [{ task: plan.task(1).id, fields: { checks } }] })
  plan.answer()
  return plan
}

describe('what an agent may read', () => {
  it.each([
    ['a check', HIDDEN, SEALED],
    ['a file', { kind: 'file', path: 'secret', absent: true, hidden: true, id: 'c9', hash: 'h-hidden' }, SEALED],
    ['a check in a row', { tasks: [{ checks: [NPM, HIDDEN] }] }, { tasks: [{ checks: [NPM, SEALED] }] }],
    [
      'a check with its state',
      { ...HIDDEN, approved: true, state: 'failed', baseline: 'passed', changes: [{ path: 'secret', is: 'outside' }] },
      { ...SEALED, approved: true, state: 'failed', baseline: 'passed' },
    ],
    [
      'a run',
      {
        hidden: true,
        run_id: 'r',
        result: 'failed',
        why: 'claim',
        exit: 3,
        tail: 'secret',
        output_sha256: 'x',
        reason: 'secret',
      },
      { hidden: true, run_id: 'r', result: 'failed', why: 'claim' },
    ],
    [
      'a verdict',
      { hidden: true, task_id: 't', verdict: 'not_ok', reason: 'secret', model: 'm' },
      { hidden: true, task_id: 't', verdict: 'not_ok', reason: 'Not accepted.', model: 'm' },
    ],
    [
      "an agent's words",
      { tool_calls: [{ arguments: { hidden: true, path: 'x' } }] },
      { tool_calls: [{ arguments: { hidden: true, path: 'x' } }] },
    ],
    ['anything else', { hidden: 'no', title: 'x', list: [1, null] }, { hidden: 'no', title: 'x', list: [1, null] }],
  ])('[HD3] %s', (_, value, read) => {
    expect(forAgent(value)).toEqual(read)
    expect(JSON.parse(textForAgent(JSON.stringify(value)))).toEqual(read)
  })

  it('[HD2] sentences do not name it', () => {
    expect([labelOf(HIDDEN), describeCheck(HIDDEN)]).toEqual([HELD_OUT, HELD_OUT])
  })
})

it.each([
  [{ kind: 'command', run: ['npm', 'test'], hidden: true }, true],
  [{ kind: 'file', path: 'a.md', hidden: true }, true],
  [{ kind: 'unchanged', paths: ['a.md'], hidden: true }, true],
  [{ kind: 'command', run: ['npm', 'test'], hidden: false }, undefined],
])('[HD1] a check of any kind that runs can be held out: %j', (raw, hidden) => {
  expect(cleanCheck(raw, 'check')).toEqual({ ...raw, hidden })
})

it.each([
  [{ kind: 'person', ask: 'Right?', hidden: true }],
  [{ kind: 'command', run: ['npm', 'test'], hidden: 'yes' }],
])('[HD1] others are refused by name: %j', raw => {
  const refusal = cleanCheck(raw, 'check')
  expect(refusal instanceof Refusal && refusal.data).toMatchObject({ field: 'check.hidden' })
})

it('[HD1] runs after the visible checks, and both have to pass for a proof', () => {
  const plan = planned(HIDDEN, NPM)
  plan.runs('failed')
  plan.runs('failed')
  plan.claims(1)
  plan.runs('passed')
  plan.runs('failed', { tail: 'secret', reason: 'secret' })
  const ran = plan.log.flatMap(event => (event.type === 'check_ran' ? [[event.data.why, event.data.hash]] : []))
  expect(ran.slice(-2)).toEqual([
    ['claim', 'h-npm'],
    ['claim', 'h-hidden'],
  ])
  plan.resumes(1)
  expect(plan.task(1).status).toBe('in_progress')
  plan.claims(1)
  plan.runs('passed')
  plan.runs('passed')
  plan.resumes(1)
  expect(plan.standing(1)).toEqual({
    standing: 'proven',
    reasons: [`${HELD_OUT}: failed before, passes now`, 'npm test: failed before, passes now'],
  })
  expect(heldOutWords(plan.task(1).checks)).toBe(', 1 held out')
})

it('[HD2] the state has neither its exit code nor its reason nor its output', () => {
  const plan = planned(HIDDEN)
  plan.runs('failed', { exit: 7, tail: 'secret', reason: 'secret' })
  const { last } = plan.state.runs.get('h-hidden') ?? {}
  expect(last).toEqual(expect.not.objectContaining({ exit: 7 }))
  expect(JSON.stringify([plan.state.runs.get('h-hidden'), plan.state.proof.get(plan.task(1).id)])).not.toContain(
    'secret',
  )
  expect(JSON.stringify(plan.log)).toContain('secret')
})

it('[HD2] changed files are counted, not named', () => {
  const plan = planned(HIDDEN)
  plan.runs('failed')
  plan.claims(1)
  plan.runs('passed', { changes: [{ path: 'secret.test.js', is: 'protected', hash: 'x' }] })
  plan.resumes(1)
  expect(plan.standing(1)?.reasons).toContain(`${HELD_OUT}: changed outside its scope: 1 file`)
  expect(JSON.stringify(forAgent(taskOnWire(plan.state, plan.task(1))))).not.toContain('secret')
})

it('[HD1] a model cannot add one, whatever the policy', () => {
  const plan = planned()
  const create = [{ id: 'new-1', title: 'B', checks: [HIDDEN] }]
  const refusal = plan.refusal({ type: 'edit_tasks', by: 'model', turn_id: 'turn-1', create })
  expect(refusal).toMatchObject({ code: 'persons_only', data: { action: 'hide_check' } })
})
