import { describe, expect, it } from 'vitest'
import { approved, CALL, FILE, NPM, Plan, TICK, WORKSPACE } from '../../../test/support/checked-plan.ts'
import { dataOf, Driver, inRun, typesOf } from '../../../test/support/domain.ts'
import type { Check } from '../proof/check.ts'
import type { CommandOf } from '../model/command.ts'
import { nextRun } from '../proof/check-runs.ts'
import type { StoredEvent } from '../model/event.ts'
import { Refusal } from '../model/refusal.ts'

type Change = NonNullable<CommandOf<'edit_tasks'>['change']>[number]

const LINT: Check = { kind: 'command', run: ['npm', 'run', 'lint'], id: 'd1', hash: 'h-lint' }
const REJECTS = { verdict: 'not_ok', reason: 'No proof' } as const

/** In a run with a judge: three open tasks. */
function judged(): Driver {
  const chat = inRun({ assessor: true, toolset: 'checklist' })
  chat.run(chat.adds('model', 'A', 'B', 'C'))
  chat.answer()
  return chat
}

/** Of an agent elsewhere: a task whose check is red. */
function checked(...more: readonly string[]): Plan {
  const plan = new Plan(approved('A', NPM), ...more.map(title => ({ title })))
  plan.runs('failed')
  return plan
}

const done = (task: number, outcome = 'Done'): Change => ({ task, fields: { status: 'completed', outcome } })

const eventsOf = (answer: ReturnType<Driver['settlesCall']>): readonly StoredEvent[] => {
  if ('needs' in answer || answer instanceof Refusal) throw new Error('not settled')
  return answer
}

describe('(a) refused whatever the facts are', () => {
  it.each<[why: string, change: Change, code: string]>([
    ['an unknown task', done(9), 'task_not_found'],
    ['an empty outcome', { task: 1, fields: { status: 'completed', outcome: ' ' } }, 'outcome_required'],
    ['a task that a person has edited', done(2), 'edited_by_person'],
  ])('%s: nothing is stored', (_, change, code) => {
    const plan = checked('B')
    plan.run(plan.sets('person', 2, { title: 'B2' }))
    const before = plan.log.length
    const edit = plan.edits('model', { change: [done(1), change] })
    expect(() => plan.asked(edit)).toThrow(expect.objectContaining({ code }))
    expect(plan.log).toHaveLength(before)
  })
})

describe('(b) what needs nothing', () => {
  it('is granted in the commit of the call, without a further event', () => {
    const plan = checked('B')
    expect(plan.asked(plan.settles(2))).toEqual([])
    expect(typesOf(plan.run(plan.settles(2)))).toEqual(['task_changed'])
  })
})

describe('(c) what needs something', () => {
  it('is held: nothing of the call is made before its claims are settled, then all of it in one commit', () => {
    const chat = judged()
    const change = [done(1), { task: 2, fields: { title: 'B2' } }]
    expect(typesOf(chat.holds(chat.edits('model', { change, each: true })))).toEqual(['claim_made'])
    expect(chat.titles()).toEqual(['A', 'B', 'C'])
    chat.run(chat.assesses(1))
    expect(typesOf(eventsOf(chat.settlesCall()))).toEqual(['task_changed', 'task_changed', 'claim_settled'])
    expect([chat.titles(), chat.statuses()]).toEqual([
      ['A', 'B2', 'C'],
      ['completed', 'pending', 'pending'],
    ])
  })

  it('a refused claim drops what the call does to its own task, and nothing else', () => {
    const chat = judged()
    const change = [done(1), { task: 1, fields: { title: 'A2' } }, done(2), { task: 3, fields: { title: 'C2' } }]
    chat.holds(chat.edits('model', { change, each: true }))
    chat.run(chat.assesses(1, REJECTS))
    chat.run(chat.assesses(2))
    chat.settlesCall()
    expect([chat.titles(), chat.statuses()]).toEqual([
      ['A', 'B', 'C2'],
      ['pending', 'completed', 'pending'],
    ])
    expect(dataOf(chat.log, 'claim_settled')).toMatchObject([
      { result: 'refused', because: 'not_ok' },
      { result: 'granted', because: 'judge' },
    ])
  })

  it('a new task that is turned down is created open', () => {
    const chat = judged()
    const edit = chat.adds(
      'model',
      { title: 'D', status: 'completed', outcome: 'x' },
      { title: 'E', status: 'completed' },
    )
    chat.holds(edit)
    const [d = '', e = ''] = (edit.create ?? []).map(({ id }) => id)
    chat.run(chat.assesses(d, REJECTS))
    chat.run(chat.assesses(e))
    chat.settlesCall()
    expect([chat.task(4), chat.task(5)]).toMatchObject([
      { title: 'D', status: 'pending', judged_by: null },
      { title: 'E', status: 'completed', judged_by: 'assessor' },
    ])
    expect([...chat.state.rejections.values()]).toEqual([1])
  })
})

describe('what changes while a call is held', () => {
  it('(c) a row whose check was approved meanwhile is not granted with it', () => {
    const plan = new Plan(approved('A', NPM), { title: 'B', checks: [FILE] })
    plan.runs('failed')
    plan.holds(plan.edits('model', { change: [done(1), done(2)], each: true }), CALL)
    plan.run(plan.edits('person', { change: [{ task: 2, fields: {}, approve: [FILE.hash] }] }))
    while (nextRun(plan.state, 'turn-1')) plan.runs('passed')
    plan.settlesCall(CALL, { seen: { fingerprint: 'f1' } })
    expect(plan.statuses()).toEqual(['completed', 'in_progress'])
  })

  it('(e) what a person settles meanwhile is theirs, and the claim is refused', () => {
    const chat = judged()
    chat.holds(chat.edits('model', { change: [done(1)], each: true }))
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    chat.settlesCall()
    expect(chat.task(1).judged_by).toBe('person')
    expect(dataOf(chat.log, 'claim_settled')).toMatchObject([{ result: 'refused', because: 'edited' }])
  })

  it('(d) a verdict on a claim counts, also if the policy has no judge by then', () => {
    const plan = checked('B')
    plan.run({ type: 'set_policy', by: 'person', policy: { assessor: true } })
    plan.answer()
    plan.holds({ ...plan.settles(1), judges: true }, CALL)
    plan.runs('passed')
    plan.run({ type: 'set_policy', by: 'person', policy: { assessor: false } })
    plan.run(plan.assesses(1, { basis: plan.state.seq, ...REJECTS }))
    expect(plan.settlesCall(CALL)).toMatchObject({ code: 'not_accepted' })
  })

  it('(d) without the workspace a claim still waits for its tick; without the judge it is refused', () => {
    const plan = new Plan(approved('A', TICK), { title: 'B' })
    plan.run({ type: 'set_policy', by: 'person', policy: { assessor: true } })
    plan.answer()
    plan.holds({ ...plan.settles(1), judges: true }, CALL)
    expect(plan.settlesCall(CALL, { ended: 'no_workspace' })).toEqual({ needs: 'checks' })
    plan.run({ type: 'tick_check', task: 1, check_id: TICK.id })
    expect(plan.settlesCall(CALL, { ended: 'no_workspace' })).toMatchObject({ needs: 'judge' })
    expect(plan.settlesCall(CALL, { ended: 'no_judge' })).toMatchObject({ code: 'not_checked' })
    expect(plan.task(1).status).toBe('in_progress')
  })
})

describe('(d) the order', () => {
  it('is the checks, a look at the files, the last runs of the plan, the judge', () => {
    const plan = new Plan(approved('A', NPM))
    plan.run({ type: 'set_policy', by: 'person', policy: { assessor: true } })
    plan.runs('failed')
    plan.answer()
    plan.holds({ ...plan.settles(1), judges: true }, CALL)
    expect(plan.settlesCall(CALL)).toEqual({ needs: 'checks' })
    plan.runs('passed')
    expect(plan.settlesCall(CALL)).toEqual({ needs: 'look' })
    const seen = { fingerprint: 'f2' }
    expect(plan.settlesCall(CALL, { seen })).toEqual({ needs: 'runs' })
    plan.run({ type: 'request_final', turn_id: 'turn-1', ...seen })
    plan.runs('passed', seen)
    expect(plan.settlesCall(CALL, { seen })).toMatchObject({ needs: 'judge', claim: { tool_call_id: CALL } })
    plan.run(plan.assesses(1, { basis: plan.state.seq }))
    expect(typesOf(eventsOf(plan.settlesCall(CALL, { seen })))).toEqual(['task_changed', 'claim_settled'])
    expect(plan.task(1)).toMatchObject({ status: 'completed', judged_by: 'assessor' })
  })

  it('the judge is not asked about what a check refused', () => {
    const plan = checked('B')
    plan.run({ type: 'set_policy', by: 'person', policy: { assessor: true } })
    plan.answer()
    plan.holds({ ...plan.settles(1), judges: true }, CALL)
    plan.runs('failed')
    expect(plan.settlesCall(CALL)).toMatchObject({ code: 'check_failed' })
  })

  it('of several claims that end the plan, one waits for a check of the plan that fails', () => {
    const chat = new Driver()
    const host = { review: false, assessor: false }
    const place = { workspace: WORKSPACE, done_checks: [LINT] }
    chat.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'runsheet', host, ...place })
    chat.run(chat.adds('model', 'A', 'B'))
    chat.answer()
    chat.run({ type: 'take_baseline', turn_id: 'turn-1', plan_id: 'turn-1', record: null })
    chat.holds(chat.edits('model', { change: [done(1), done(2)], each: true }), CALL)
    const seen = { fingerprint: 'f1' }
    chat.run({ type: 'request_final', turn_id: 'turn-1', ...seen })
    chat.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'r', hash: LINT.hash, why: 'final' })
    const outcome = { result: 'failed', duration_ms: 1, ...seen } as const
    chat.run({ type: 'end_check', turn_id: 'turn-1', run_id: 'r', hash: LINT.hash, outcome })
    expect(chat.settlesCall(CALL, { seen })).toMatchObject({ code: 'plan_check_failed' })
    expect(chat.statuses()).toEqual(['in_progress', 'completed'])
  })
})

describe('(e) what closes a claim, uncounted', () => {
  it.each<[string, (plan: Plan) => CommandOf<'edit_tasks'> | { type: 'stop_turn'; turn_id: string }, string]>([
    ["a person's edit of the task", plan => plan.sets('person', 1, { details: 'more' }), 'edited'],
    ['its removal', plan => plan.removes('person', 1) as CommandOf<'edit_tasks'>, 'refused'],
    ['a stop', () => ({ type: 'stop_turn', turn_id: 'turn-1' }), 'stopped'],
  ])('%s', (_, command, because) => {
    const plan = checked('B')
    plan.claims(1)
    plan.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'r', hash: NPM.hash, why: 'claim' })
    plan.run(command(plan))
    if (plan.state.claims.size > 0) plan.settlesCall(CALL)
    expect(dataOf(plan.log, 'claim_settled')).toMatchObject([{ result: 'refused', because }])
    expect([plan.state.claims.size, plan.state.runs.get(NPM.hash)?.started]).toEqual([0, undefined])
    expect([...plan.state.proof.values()].map(({ reds }) => reds)).not.toContain(1)
  })

  it('the end of the turn', () => {
    const plan = checked('B')
    plan.claims(1)
    plan.finish('turn-1')
    expect(dataOf(plan.log, 'claim_settled')).toMatchObject([{ result: 'refused', because: 'stopped' }])
  })
})

describe('(f) another call meanwhile', () => {
  it('is refused if it changes the task, also if it is equal', () => {
    const plan = checked('B')
    plan.claims(1)
    expect(plan.refusal(plan.removes('model', 1)).code).toMatch(/claim_open|rejected_task_stays/)
    const more = { ...done(1).fields, title: 'A2' } as const
    for (const fields of [
      done(1).fields,
      more,
      { status: 'cancelled' },
      { status: 'completed', outcome: 'Else' },
      { title: 'A2' },
    ] as const)
      expect(plan.refusal(plan.sets('model', 1, fields)).code).toBe('claim_open')
    plan.run(plan.settles(2))
  })
})

describe('(g) the fence', () => {
  it('is the seq of the claim: what a person did before it is known, what came after closes it', () => {
    const plan = checked('B')
    plan.run(plan.sets('person', 1, { details: 'more' }))
    plan.answer()
    plan.claims(1)
    plan.runs('passed')
    expect(typesOf(eventsOf(plan.settlesCall(CALL)))).toContain('claim_settled')
    expect(plan.task(1).status).toBe('completed')
  })

  it('a call that is settled is not settled again', () => {
    const plan = checked('B')
    plan.claims(1)
    plan.runs('passed')
    plan.settlesCall(CALL)
    expect(plan.run({ type: 'settle_call', turn_id: 'turn-1', tool_call_id: CALL })).toEqual([])
  })
})
