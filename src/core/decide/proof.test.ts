import { describe, expect, it } from 'vitest'
import { CALL, FILE, NPM, Plan, TICK, WORKSPACE, approved } from '../../../test/support/checked-plan.ts'
import { Driver, dataOf, typesOf } from '../../../test/support/domain.ts'
import type { Check, Workspace } from '../proof/check.ts'
import type { Command, RunOutcome, SeenWorkspace } from '../model/command.ts'
import { awaitsChecks } from '../model/conversation.ts'
import { planDigest } from '../views/digest.ts'
import { nextRun, staleChecks } from '../proof/check-runs.ts'
import { checkState, reopenedBy, whyReopened } from '../proof/check-state.ts'
import { settleable } from '../proof/claims.ts'
import { MAX_REDS } from '../proof/proof.ts'
import type { PolicyPatch } from '../model/policy.ts'

const RUNS = { needs: 'runs' }

describe('approval', () => {
  it('[CM1] a check runs only if a decision names its hash: sending it back approves nothing', () => {
    const plan = new Plan({ title: 'A', checks: [NPM] })
    expect(dataOf(plan.log, 'check_approved')).toEqual([])
    expect(nextRun(plan.state, 'turn-1')).toBeUndefined()
    plan.run(plan.settles(1))
    expect(plan.task(1).status).toBe('completed')
    expect(plan.standing(1)).toEqual({
      standing: 'reported',
      reasons: ["the agent's word", 'npm test: not approved, so it never runs'],
    })
  })

  it("[CM1] a person's new check in a decision is approved by writing it", () => {
    const plan = new Driver()
    plan.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'runsheet', host: {}, workspace: WORKSPACE })
    plan.run(plan.adds('model', { title: 'A', checks: [NPM] }))
    plan.run(plan.confirms([{ title: 'A', checks: [NPM, FILE] }]))
    expect(dataOf(plan.log, 'check_approved')).toMatchObject([{ hash: FILE.hash, via: 'review' }])
  })

  it('[CM1] a hash that the row does not have is refused', () => {
    const plan = new Driver()
    plan.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'runsheet', host: {}, workspace: WORKSPACE })
    plan.run(plan.adds('model', { title: 'A', checks: [NPM] }))
    expect(plan.refusal(plan.confirms([{ title: 'A', approve: ['h-other'] }])).data).toMatchObject({ field: 'approve' })
  })

  it("[CM1] a person's edit approves what is new in it, and what it names", () => {
    const plan = new Plan({ title: 'A', checks: [NPM] })
    plan.run(plan.sets('person', 1, { checks: [NPM, FILE] }))
    expect(dataOf(plan.log, 'check_approved')).toMatchObject([{ hash: FILE.hash, via: 'edit' }])
    plan.run(plan.edits('person', { change: [{ task: 1, fields: {}, approve: [NPM.hash] }] }))
    expect(dataOf(plan.log, 'check_approved')).toHaveLength(2)
  })
})

describe('a claim', () => {
  it('[CM2] is validated, stored once for its task, and grants nothing before its checks', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    expect(plan.refusal(plan.sets('model', 1, { status: 'completed', outcome: '' })).code).toBe('outcome_required')
    plan.claims(1)
    expect(dataOf(plan.log, 'claim_made')).toMatchObject([{ task_id: plan.task(1).id, status: 'completed' }])
    expect(plan.task(1).status).toBe('in_progress')
    expect(awaitsChecks(plan.state, 'turn-1')).toBe(true)
    expect(nextRun(plan.state, 'turn-1')).toMatchObject({ why: 'claim', check: NPM })
  })

  it('[CM2] red first, then green: it is granted, and the task proven', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    expect(settleable(plan.state, 'turn-1')).toHaveLength(1)
    expect(typesOf(plan.resumes(1) as never)).toEqual(['task_changed', 'claim_settled'])
    expect(dataOf(plan.log, 'claim_settled')).toMatchObject([{ result: 'granted', because: 'checks' }])
    expect(plan.state.claims.size).toBe(0)
    expect(plan.standing(1)).toEqual({ standing: 'proven', reasons: ['npm test: failed before, passes now'] })
  })

  it.each([
    [
      'text that is missing',
      { ...NPM, contains: 'ok 3' },
      { exit: 0 },
      'npm test (contains "ok 3")',
      'It has no ok 3.',
    ],
    ['another exit code', { ...NPM, exit: 2 }, { exit: 1 }, 'npm test (exits with 2)', 'It exited with 1.'],
    ['a file', FILE, { exit: undefined }, 'a.md exists', 'a.md is empty.'],
  ] as const)('[CM3] a refusal says what is wrong besides the exit code: %s', (_, check, run, label, reason) => {
    const plan = new Plan(approved('A', check))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('failed', { ...run, reason })
    expect(plan.resumes(1)).toMatchObject({ code: 'check_failed', data: { check: label, reason } })
  })

  it('[CM3] a red check refuses it, with exit code and output, and counts', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('failed', { tail: '1 failing' })
    const refusal = plan.resumes(1)
    expect(refusal).toMatchObject({ code: 'check_failed', data: { check: 'npm test', exit: 1, tail: '1 failing' } })
    expect(dataOf(plan.log, 'claim_settled')).toMatchObject([{ result: 'refused', because: 'check_failed' }])
    expect(plan.state.proof.get(plan.task(1).id)?.reds).toBe(1)
    const stays = plan.refusal(plan.removes('model', 1))
    expect(stays).toMatchObject({ code: 'rejected_task_stays', data: { by: 'checks' } })
    expect(stays.message).toBe(
      'Task 1 was refused by its checks and cannot be deleted. Do it, or leave it to a person.',
    )
  })

  it('[AS9] a task with an approved check that never passed is not deleted by a model', () => {
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed')
    const stays = plan.refusal(plan.removes('model', 1))
    expect(stays).toMatchObject({ code: 'rejected_task_stays', data: { action: 'delete', by: 'approval' } })
    expect(stays.message).toBe(
      'Task 1 was given a check that has not passed and cannot be deleted. Do it, or leave it to a person.',
    )
    plan.run(plan.removes('person', 1))
  })

  it('[AS9] what a check refused is not cancelled on the word of a model alone', () => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    const cancels = (number: number, more = {}) =>
      plan.sets('model', number, { status: 'cancelled', outcome: 'Not needed.' }, more)
    plan.claims(1)
    plan.runs('failed')
    plan.resumes(1)
    const stays = plan.refusal(cancels(1))
    expect(stays).toMatchObject({ code: 'rejected_task_stays', data: { action: 'cancel', by: 'checks' } })
    expect(stays.message).toBe(
      'Task 1 was refused by its checks and cannot be cancelled. Set it to blocked, and say in its outcome what is in the way.',
    )
    // A judge rules on it instead.
    expect(plan.asked(cancels(1, { judges: true }))).toHaveLength(1)
    plan.run(plan.sets('model', 1, { status: 'blocked', outcome: 'There is no way.' }))
    expect(plan.refusal(cancels(1)).code).toBe('rejected_task_stays')
    plan.run(cancels(2))
    plan.run(plan.sets('person', 1, { status: 'cancelled' }))
    expect(plan.statuses()).toEqual(['cancelled', 'cancelled'])
  })

  it('[CM3] five red ones block the task, one more is taken, then none until a person acts', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    for (let red = 1; red <= MAX_REDS + 1; red += 1) {
      plan.claims(1, `call-${red}`)
      plan.runs('failed')
      plan.resumes(1, `call-${red}`)
      expect(plan.task(1).status).toBe(red < MAX_REDS ? 'in_progress' : 'blocked')
    }
    expect(plan.refusal(plan.settles(1)).message).toContain(
      `Task 1 was claimed ${MAX_REDS + 1} times while its checks failed.`,
    )
    plan.run(plan.sets('person', 1, { status: 'pending' }))
    plan.answer()
    plan.claims(1, 'call-again')
  })

  it('[CR12] inconclusive is no pass and is not counted', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('inconclusive', { reason: 'There is no program npm.' })
    expect(plan.resumes(1)).toMatchObject({ code: 'not_checked', data: { reason: 'There is no program npm.' } })
    expect(plan.state.proof.get(plan.task(1).id)?.reds).toBe(0)
    expect(dataOf(plan.log, 'claim_settled')).toMatchObject([{ because: 'inconclusive' }])
  })

  it('cheapest first, and the first failure ends it', () => {
    const plan = new Plan(approved('A', NPM, FILE))
    plan.runs('failed')
    plan.runs('failed')
    plan.claims(1)
    expect(nextRun(plan.state, 'turn-1')?.check).toEqual(FILE)
    plan.runs('failed')
    expect(nextRun(plan.state, 'turn-1')).toBeUndefined()
    expect(plan.resumes(1)).toMatchObject({ data: { check: 'a.md exists' } })
  })

  it('[CM6] while it is open, any other change waits', () => {
    const plan = new Plan(approved('A', NPM), approved('B'))
    plan.runs('failed')
    plan.claims(1)
    for (const other of [{ outcome: 'x' }, { status: 'completed', outcome: 'x' }, { status: 'cancelled' }] as const) {
      expect(plan.refusal(plan.sets('model', 1, other)).code).toBe('claim_open')
    }
    plan.run(plan.settles(2))
  })

  it("[CM7] a person's edit of the task ends it at once, uncounted, with its run", () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.run(plan.sets('person', 1, { title: 'A2' }))
    expect(plan.resumes(1)).toMatchObject({ code: 'edited_by_person' })
    expect(dataOf(plan.log, 'claim_settled')).toMatchObject([{ result: 'refused', because: 'edited' }])
    expect(plan.state.proof.get(plan.task(1).id)?.reds).toBe(0)
    plan.answer()

    plan.claims(1)
    const next = nextRun(plan.state, 'turn-1')
    plan.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'r', hash: next?.check.hash ?? '', why: 'claim' })
    plan.run(plan.sets('person', 1, { checks: [FILE] }))
    expect(plan.resumes(1)).toMatchObject({ code: 'edited_by_person' })
    const outcome = { result: 'passed', duration_ms: 1 } as const
    expect(plan.run({ type: 'end_check', turn_id: 'turn-1', run_id: 'r', hash: NPM.hash, outcome })).toEqual([])
  })

  it('[CM7] a stop ends it and its run', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'r', hash: NPM.hash, why: 'claim' })
    const events = plan.run({ type: 'stop_turn', turn_id: 'turn-1' })
    expect(typesOf(events)).toEqual(['turn_stop_requested', 'check_ran', 'claim_settled'])
    expect(dataOf(events, 'check_ran')).toMatchObject([{ result: 'inconclusive' }])
    expect(nextRun(plan.state, 'turn-1')).toBeUndefined()
  })

  it('a check that a person ticks is waited for, and runs nothing', () => {
    const plan = new Plan(approved('A', TICK))
    plan.claims(1)
    expect(nextRun(plan.state, 'turn-1')).toBeUndefined()
    expect(awaitsChecks(plan.state, 'turn-1')).toBe(true)
    plan.run({ type: 'tick_check', task: 1, check_id: TICK.id })
    expect(awaitsChecks(plan.state, 'turn-1')).toBe(false)
    plan.resumes(1)
    expect(plan.standing(1)).toMatchObject({
      standing: 'reported',
      reasons: [expect.anything(), 'Looks right?: a person ticked it'],
    })
  })
})

describe('a task that a model rewords', () => {
  const plans = (...checks: Check[]): Plan => {
    const plan = new Plan(approved('A', ...checks))
    plan.run({ type: 'set_policy', by: 'person', policy: { review: false } })
    plan.answer()
    for (const _ of checks) plan.runs('failed')
    return plan
  }
  const reworded = ['npm test: approved for other words, so it proves nothing until it is approved again']

  it.each([{ title: 'B' }, { details: 'quickly' }, { criteria: 'half of it' }])(
    '[CM1] before the claim: its check still runs, and proves nothing until it is approved again: %o',
    words => {
      const plan = plans(NPM)
      plan.run(plan.sets('model', 1, words))
      plan.claims(1)
      plan.runs('passed')
      plan.resumes(1)
      expect(plan.standing(1)).toEqual({ standing: 'reported', reasons: ["the agent's word", ...reworded] })
      const events = plan.run(plan.edits('person', { change: [{ task: 1, fields: {}, approve: [NPM.hash] }] }))
      expect(typesOf(events)).toEqual(['check_approved'])
      expect(plan.standing(1)?.standing).toBe('proven')
    },
  )

  it('[CM1] is still held by it', () => {
    const plan = plans(NPM)
    plan.run(plan.sets('model', 1, { title: 'B' }))
    plan.claims(1)
    plan.runs('failed')
    expect(plan.resumes(1)).toMatchObject({ code: 'check_failed' })
  })

  it('[CM1] is proven by a check that a person adds for the new words', () => {
    const plan = plans(NPM)
    plan.run(plan.sets('model', 1, { title: 'B' }))
    plan.run(plan.sets('person', 1, { checks: [NPM, FILE] }))
    plan.answer()
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.runs('passed')
    plan.resumes(1)
    expect(plan.standing(1)?.standing).toBe('proven')
  })

  it('[CM1] other fields, the same words, and the words of a person change nothing', () => {
    const plan = plans(NPM)
    plan.run(plan.sets('model', 1, { title: 'A', priority: 'high' }))
    plan.run(plan.sets('person', 1, { title: 'A2' }))
    plan.answer()
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    expect(plan.standing(1)?.standing).toBe('proven')
  })
})

describe('what proves', () => {
  it('[CM10] a check that passes at the start only guards', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('passed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    expect(plan.standing(1)).toEqual({
      standing: 'reported',
      reasons: ["the agent's word", 'npm test: passed already, so it only guards'],
    })
  })

  it('[CM10] it proves the one task whose claim first sees it pass', () => {
    const plan = new Plan(approved('A', NPM), approved('B', NPM))
    expect(dataOf(plan.log, 'check_requested')).toHaveLength(2)
    plan.runs('failed')
    expect(nextRun(plan.state, 'turn-1')).toBeUndefined()
    for (const number of [1, 2]) {
      plan.claims(number, `call-${number}`)
      plan.runs('passed')
      plan.resumes(number, `call-${number}`)
    }
    expect(plan.standing(1)?.standing).toBe('proven')
    expect(plan.standing(2)?.reasons).toContain('npm test: proves task 1, so here it only guards')
  })

  it('[CM10] a later task with the same check, which passes at the start, takes nothing from the one that it proves', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    plan.run(plan.edits('person', { create: [{ id: plan.id(), title: 'B', checks: [NPM] }] }))
    plan.answer()
    plan.runs('passed')
    expect(plan.standing(1)?.standing).toBe('proven')
    // Nor does breaking and restoring it prove the later one.
    for (const result of ['failed', 'passed'] as const) {
      plan.claims(2, `call-${result}`)
      plan.runs(result)
      plan.resumes(2, `call-${result}`)
    }
    expect(plan.standing(2)?.reasons).toContain('npm test: passed already, so it only guards')
  })

  it('[CM11] what changed since is out of date: it runs once more before the plan ends, and reopens what fails', () => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    plan.claims(1, 'call-1')
    plan.runs('passed')
    plan.resumes(1, 'call-1')
    plan.claims(2, 'call-2')
    plan.runs('passed', { fingerprint: 'f2' })
    expect(plan.standing(1)?.standing).toBe('reported')
    expect(staleChecks(plan.state, 'turn-1', 'f2').map(({ hash }) => hash)).toEqual([NPM.hash])
    plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f2' })
    plan.runs('failed', { fingerprint: 'f2' })
    expect(dataOf(plan.log, 'task_changed').at(-1)).toMatchObject({ by: 'system', reason: 'npm test fails now.' })
    expect(plan.task(1).status).toBe('pending')
    expect(plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f3' })).toEqual([])
  })

  it('while a check runs again, its task keeps its standing, and says so', () => {
    const plan = new Plan(approved('A', NPM), approved('B'))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    const proven = { standing: 'proven', reasons: ['npm test: failed before, passes now'] }
    const again = { standing: 'proven', reasons: ['npm test: failed before, passes now; it is being checked again'] }
    expect(plan.standing(1)).toEqual(proven)
    plan.run({ type: 'request_check', task: 1, check_id: NPM.id })
    expect(plan.standing(1)).toEqual(again)
    plan.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'again', hash: NPM.hash, why: 'person' })
    expect([plan.standing(1), checkState(plan.state, plan.task(1), NPM)]).toEqual([again, 'running'])
    const outcome = { result: 'passed', duration_ms: 5, fingerprint: 'f1' } as const
    plan.run({ type: 'end_check', turn_id: 'turn-1', run_id: 'again', hash: NPM.hash, outcome })
    expect(plan.standing(1)).toEqual(proven)
  })

  it('[CM11] what a person settled is only marked', () => {
    const plan = new Plan(approved('A', NPM), approved('B'))
    plan.runs('failed')
    plan.run(plan.sets('person', 1, { status: 'completed' }))
    plan.run({ type: 'request_final', turn_id: 'turn-1' })
    plan.runs('failed')
    expect(plan.standing(1)).toEqual({ standing: 'confirmed', reasons: ['a person settled it', 'npm test: fails now'] })
  })

  it('[CM12] changes outside its scope keep it from proving anything until a person has accepted each', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    const changes = ['package.json', 'test/a.ts'].map(path => ({ path, is: 'protected', hash: 'g1' }) as const)
    plan.runs('passed', { changes })
    plan.resumes(1)
    expect(plan.standing(1)).toMatchObject({ standing: 'reported' })
    const accept = (paths: string[]) => ({ type: 'accept_changes', task: 1, paths }) as const
    for (const paths of [[], ['other.json'], ['package.json', 'other.json']]) {
      expect(plan.refusal(accept(paths)).data).toMatchObject({ field: 'paths' })
    }
    plan.run(accept(['package.json']))
    expect(plan.standing(1)?.reasons).toContain('npm test: changed outside its scope: test/a.ts')
    plan.run(accept(['test/a.ts']))
    expect(plan.standing(1)?.standing).toBe('proven')
  })

  it('an interrupted run is known, and its next start counts as another try', () => {
    const plan = new Plan(approved('A', NPM))
    const start = (run_id: string) =>
      plan.run({ type: 'start_check', turn_id: 'turn-1', run_id, hash: NPM.hash, why: 'baseline' })
    start('r1')
    start('r2')
    expect(plan.state.runs.get(NPM.hash)?.started).toMatchObject({ run_id: 'r2', tries: 2 })
    const outcome = { result: 'failed', duration_ms: 1 } as const
    expect(plan.run({ type: 'end_check', turn_id: 'turn-1', run_id: 'r1', hash: NPM.hash, outcome })).toEqual([])
    expect(plan.run({ type: 'end_check', turn_id: 'turn-1', run_id: 'r2', hash: NPM.hash, outcome })).toHaveLength(1)
  })

  it('a person stops a run: it is inconclusive', () => {
    const plan = new Plan(approved('A', NPM))
    plan.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'r1', hash: NPM.hash, why: 'baseline' })
    const events = plan.run({ type: 'stop_check', task: 1, check_id: NPM.id })
    expect(dataOf(events, 'check_ran')).toMatchObject([{ result: 'inconclusive', reason: 'It was stopped.' }])
    plan.run({ type: 'request_check', task: 1, check_id: NPM.id })
    expect(nextRun(plan.state, 'turn-1')).toMatchObject({ why: 'person' })
  })
})

describe('what is not proven', () => {
  it('[TC1] a check that passed at the start, though it failed in between', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('passed')
    for (const result of ['failed', 'passed'] as const) {
      plan.claims(1, `call-${result}`)
      plan.runs(result)
      plan.resumes(1, `call-${result}`)
    }
    expect(plan.standing(1)).toEqual({
      standing: 'reported',
      reasons: ["the agent's word", 'npm test: passed already, so it only guards'],
    })
  })

  it.each(['completed', 'cancelled'] as const)(
    'the last task of a plan, without checks, is claimed if %s: others have checks that must be fresh',
    status => {
      const plan = new Plan(approved('A', NPM), { title: 'B' }, { title: 'C' })
      plan.runs('failed')
      plan.claims(1)
      plan.runs('passed')
      plan.resumes(1)
      plan.run(plan.settles(2))
      const last = plan.sets('model', 3, { status, outcome: 'Done' })
      expect(plan.asked(last)).toMatchObject([{ status }])
    },
  )

  it('without such checks it is taken at its word', () => {
    const plan = new Plan(approved('A', TICK), { title: 'B' })
    plan.run({ type: 'tick_check', task: 1, check_id: TICK.id })
    plan.claims(1)
    plan.resumes(1)
    plan.run(plan.settles(2))
    expect(plan.task(2).status).toBe('completed')
  })

  it('every claim has both final passes: none before it can spend them', () => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    plan.claims(1, 'call-1')
    plan.runs('passed')
    plan.resumes(1, 'call-1')
    const final = (fingerprint: string) =>
      plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint }).map(({ type }) => type)
    for (const fingerprint of ['f2', 'f3']) {
      expect(final(fingerprint)).toEqual(['check_requested'])
      plan.runs('passed', { fingerprint })
    }
    expect(final('f4')).toEqual([])
    plan.claims(2, 'call-2')
    plan.runs('passed', { fingerprint: 'f4' })
    expect(final('f4')).toEqual(['check_requested'])
  })

  it.each([
    ['a person settles', (plan: Plan) => plan.sets('person', 2, { status: 'completed' })],
    ['a person removes', (plan: Plan) => plan.removes('person', 2)],
    ['a model deletes', (plan: Plan) => plan.removes('model', 2)],
    ['a model blocks', (plan: Plan) => plan.sets('model', 2, { status: 'blocked', outcome: 'No key.' })],
  ])('the checks of a plan run once more if %s its last open task without a claim', (_, edit) => {
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    plan.run({ type: 'set_policy', by: 'person', policy: { review: false, gate: false, assessor: false } })
    plan.answer()
    const asked = dataOf(plan.run(edit(plan)), 'check_requested')
    expect(asked).toMatchObject([{ hash: NPM.hash, task_id: plan.task(1).id, why: 'final', pass: 1 }])
    // It has not run yet: the plan is not known to be done.
    const before = plan.state
    expect(dataOf(plan.finish('turn-1'), 'turn_finished')).toMatchObject([{ status: 'incomplete' }])
    plan.state = before
    plan.runs('failed')
    expect(plan.task(1).status).toBe('in_progress')
  })

  it('the checks of a plan that is over run once more if a model rewords a done task; another outcome is a claim', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    plan.answer()
    plan.run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', host: {}, workspace: WORKSPACE })
    const again = plan.sets('model', 1, { status: 'completed', outcome: 'Once more.' })
    expect(plan.asked({ ...again, turn_id: 'turn-2' })).toMatchObject([{ outcome: 'Once more.' }])
    plan.run({ type: 'set_policy', by: 'person', policy: { review: false } })
    plan.answer()
    const reworded = plan.sets('model', 1, { title: 'A and more' })
    const asked = plan.run({ ...reworded, turn_id: 'turn-2' })
    expect(dataOf(asked, 'check_requested')).toMatchObject([{ hash: NPM.hash, why: 'final' }])
    plan.runs('failed')
    expect(plan.task(1)).toMatchObject({ status: 'in_progress' })
    expect(plan.standing(1)).toBeUndefined()
  })

  it('nothing runs while a task is open, for a plan without checks, or after a claim that has seen to it', () => {
    const plan = new Plan(approved('A', NPM), { title: 'B' }, { title: 'C' })
    plan.runs('failed')
    expect(dataOf(plan.run(plan.removes('person', 2)), 'check_requested')).toEqual([])
    plan.run(plan.sets('person', 3, { status: 'completed' }))
    plan.answer()
    plan.claims(1)
    plan.runs('passed')
    expect(typesOf(plan.resumes(1) as never)).toEqual(['task_changed', 'claim_settled'])
    const bare = new Plan({ title: 'A' })
    expect(typesOf(bare.run(bare.sets('person', 1, { status: 'completed' })))).toEqual(['task_changed'])
  })

  it('a task that a model rewords after its check turned', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    expect(plan.standing(1)?.standing).toBe('proven')
    plan.run({ type: 'set_policy', by: 'person', policy: { review: false } })
    plan.run(plan.sets('model', 1, { title: 'A and much more' }))
    expect(plan.standing(1)).toMatchObject({ standing: 'reported' })
  })

  it('but one that a person rewords is', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    plan.run(plan.sets('person', 1, { title: 'A, to be exact' }))
    expect(plan.standing(1)?.standing).toBe('proven')
  })
})

describe('the end of a plan', () => {
  /** A is proven; B has a check, and is claimed; C has none. */
  const racing = (): Plan => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE), { title: 'C' })
    plan.runs('failed')
    plan.runs('failed')
    plan.claims(1, 'call-1')
    plan.runs('passed')
    plan.resumes(1, 'call-1')
    plan.claims(2, 'call-2')
    plan.runs('passed', { fingerprint: 'f2' })
    return plan
  }
  const final = (plan: Plan, fingerprint: string) =>
    dataOf(plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint }), 'check_requested')

  it('is that of the claim that leaves nothing open when it is settled, not when it was made', () => {
    const plan = racing()
    // Right before the claim on B is settled: C is not the last one, because B is open.
    plan.run(plan.settles(3))
    const needs = (seen?: SeenWorkspace) => plan.settlesCall('call-2', { seen })
    expect([needs(), needs({}), needs({ fingerprint: 'f2' })]).toEqual([{ needs: 'look' }, RUNS, RUNS])
    expect(final(plan, 'f2')).toMatchObject([{ hash: NPM.hash, pass: 1 }])
    plan.runs('failed', { fingerprint: 'f2' })
    plan.resumes(2, 'call-2', 'turn-1', { fingerprint: 'f2' })
    expect([1, 2, 3].map(number => plan.task(number).status)).toEqual(['in_progress', 'completed', 'completed'])
  })

  it('is not that of a claim which another task is open beside', () => {
    const plan = racing()
    plan.resumes(2, 'call-2')
    expect(plan.task(2).status).toBe('completed')
    expect(plan.asked(plan.settles(3))).toHaveLength(1)
  })

  it('needs its runs although an earlier end had them, also without a fingerprint', () => {
    const none = { fingerprint: undefined }
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed', none)
    plan.claims(1, 'call-1')
    plan.runs('passed', none)
    plan.resumes(1, 'call-1')
    plan.claims(2, 'call-2')
    plan.run({ type: 'request_final', turn_id: 'turn-1' })
    plan.runs('passed', none)
    plan.resumes(2, 'call-2', 'turn-1', {})
    expect(plan.task(2).status).toBe('completed')
    plan.run(plan.sets('person', 2, { status: 'pending' }))
    plan.answer()
    expect(plan.asked(plan.settles(2))).toHaveLength(1)
  })

  it('[CF8] a claim that waits for its runs and ends without them leaves neither runs nor requests behind', () => {
    const plan = racing()
    plan.run(plan.settles(3))
    final(plan, 'f2')
    plan.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'r', hash: NPM.hash, why: 'final' })
    const before = plan.log.length
    plan.settlesCall('call-2', { ended: 'no_workspace' })
    const events = plan.log.slice(before)
    expect(dataOf(events, 'check_ran')).toMatchObject([{ run_id: 'r', reason: 'The process that ran it ended.' }])
    expect(dataOf(events, 'claim_settled')).toMatchObject([{ result: 'refused', because: 'no_workspace' }])
    expect([plan.state.requests, plan.state.runs.get(NPM.hash)?.started]).toEqual([[], undefined])
    expect(plan.standing(1)?.reasons.join()).not.toContain('being checked')
  })

  it('after five red claims that block the last open task, too', () => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    for (let count = 1; count <= MAX_REDS; count += 1) {
      expect(plan.state.requests).toEqual([])
      plan.claims(2, `call-${count}`)
      plan.runs('failed')
      plan.resumes(2, `call-${count}`)
    }
    expect(plan.task(2).status).toBe('blocked')
    expect(plan.state.requests).toMatchObject([{ hash: NPM.hash, why: 'final' }])
  })

  it('[TC12] in a turn of ours is not done before its runs, made in this workspace or not', () => {
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    plan.start('turn-2', { review: false, assessor: false, gate: false }, 'turn-1')
    plan.run(plan.sets('model', 2, { status: 'completed', outcome: 'Done' }))
    const ends = (seen?: SeenWorkspace) => {
      const because = 'answered'
      const answer = plan.ask({ type: 'finish_turn', turn_id: 'turn-2', because, steps: 1, usage: {}, seen })
      return answer instanceof Error ? answer : dataOf(answer, 'turn_finished').map(({ status }) => status)
    }
    const before = plan.state
    for (const [seen, status] of [
      [undefined, 'incomplete'],
      [{ fingerprint: 'f2' }, 'incomplete'],
      [{ fingerprint: 'f1' }, 'done'],
    ] as const) {
      plan.state = before
      expect(ends(seen)).toEqual([status])
    }
  })
})

describe('a task that the end of its plan opened again', () => {
  it('[TC12] is named with the reason to the one whose claim it was', () => {
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed')
    plan.claims(1, 'call-1')
    plan.runs('passed')
    plan.resumes(1, 'call-1')
    plan.claims(2, 'call-2')
    const claims = [...plan.state.claims.values()]
    expect(reopenedBy(plan.state, claims)).toEqual([])
    plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f2' })
    plan.runs('failed', { fingerprint: 'f2' })
    const why = 'its check `npm test` fails now with exit code 1'
    expect(reopenedBy(plan.state, claims)).toEqual([{ task: plan.task(1), why }])
    plan.resumes(2, 'call-2')
    expect(planDigest(plan.state)).toContain(`Open again: 1 "A": ${JSON.stringify(why)}`)
    expect(whyReopened(plan.state, plan.task(2))).toBeUndefined()
  })
})

describe('a plan that goes on in another turn', () => {
  const opens = (plan: Plan, plans = false) =>
    plan.run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', host: {}, workspace: WORKSPACE, plans })

  /** A is proven, B has no check and is still open. */
  const half = (more: object = {}): Plan => {
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed', more)
    plan.claims(1)
    plan.runs('passed', more)
    plan.resumes(1)
    return plan
  }

  const finals = (plan: Plan, fingerprint?: string) =>
    dataOf(plan.run({ type: 'request_final', turn_id: 'turn-2', fingerprint }), 'check_requested')

  it('[TC12] ends with a claim there, before which the checks of the earlier turn run: what fails is open again', () => {
    const plan = half()
    opens(plan)
    plan.claims(2, 'call-2', 'turn-2')
    expect(finals(plan, 'f2')).toMatchObject([{ hash: NPM.hash, task_id: plan.task(1).id }])
    plan.runs('failed', { fingerprint: 'f2' }, 'turn-2')
    expect(plan.task(1)).toMatchObject({ status: 'pending', plan_id: 'turn-1' })
  })

  it('[TC12] ends so too if that turn has a plan of its own that is not over', () => {
    const plan = half()
    opens(plan, true)
    plan.run(plan.sets('person', 2, { priority: 'low' }))
    plan.run(plan.edits('person', { create: [{ id: plan.id(), title: 'C' }] }))
    plan.answer()
    plan.claims(2, 'call-2', 'turn-2')
    expect(finals(plan, 'f2')).toMatchObject([{ hash: NPM.hash }])
    plan.runs('failed', { fingerprint: 'f2' }, 'turn-2')
    expect(plan.task(1).plan_id).toBe('turn-1')
    expect(plan.task(1).status).not.toBe('completed')
  })

  it('[TC12] ends so too in a turn of ours that continues it', () => {
    const plan = half()
    plan.start('turn-2', { review: false, assessor: false, gate: false }, 'turn-1')
    plan.run(plan.sets('model', 2, { status: 'completed', outcome: 'Done' }))
    plan.run({ type: 'request_final', turn_id: 'turn-2', fingerprint: 'f2' })
    plan.runs('failed', { fingerprint: 'f2' }, 'turn-2')
    expect(plan.task(1).status).toBe('in_progress')
    expect(dataOf(plan.finish('turn-2'), 'turn_finished')).toMatchObject([{ remaining: 1 }])
  })

  it('in another folder: what was proven is out of date, and says so; back in its own it runs again', () => {
    const plan = half()
    const opensIn = (turn_id: string, workspace: Workspace) =>
      plan.run({ type: 'open_turn', turn_id, toolset: 'runsheet', host: {}, workspace })
    opensIn('turn-2', { ...WORKSPACE, path: '/elsewhere' })
    expect(plan.standing(1)).toEqual({
      standing: 'reported',
      reasons: ["the agent's word", 'npm test: passed before the plan went on in another folder'],
    })
    expect(checkState(plan.state, plan.task(1), NPM)).toBe('stale')
    opensIn('turn-3', WORKSPACE)
    expect(staleChecks(plan.state, 'turn-3', 'f1').map(({ hash }) => hash)).toEqual([NPM.hash])
    plan.run({ type: 'request_final', turn_id: 'turn-3', fingerprint: 'f1' })
    plan.runs('passed', {}, 'turn-3')
    expect(plan.standing(1)?.standing).toBe('proven')
    expect(plan.run({ type: 'request_final', turn_id: 'turn-3', fingerprint: 'f1' })).toEqual([])
  })

  it('turns of other plans in other folders change nothing', () => {
    const plan = half()
    const place = { ...WORKSPACE, path: '/elsewhere' }
    plan.run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', host: {}, workspace: place, plans: true })
    expect(plan.standing(1)?.standing).toBe('proven')
  })

  it('[CM11] without a fingerprint, a run is out of date after any later one, and one final pass is enough', () => {
    const none = { fingerprint: undefined }
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed', none)
    plan.runs('failed', none)
    plan.claims(1, 'call-1')
    plan.runs('passed', none)
    plan.resumes(1, 'call-1')
    expect(plan.standing(1)?.standing).toBe('proven')
    plan.claims(2, 'call-2')
    expect(plan.standing(1)?.reasons).toContain('npm test: passed earlier, and what has changed since cannot be told')
    plan.runs('passed', none)
    const asked = dataOf(plan.run({ type: 'request_final', turn_id: 'turn-1' }), 'check_requested')
    expect(asked.map(({ hash }) => hash)).toEqual([NPM.hash])
    plan.runs('passed', none)
    expect(plan.run({ type: 'request_final', turn_id: 'turn-1' })).toEqual([])
    plan.resumes(2, 'call-2', 'turn-1', {})
    expect([plan.standing(1)?.standing, plan.standing(2)?.standing]).toEqual(['proven', 'proven'])
  })
})

describe('a task that a model creates as done', () => {
  const WITH_CHECK = { title: 'A', checks: [NPM], allowed: [NPM.hash] }
  const DONE = { ...WITH_CHECK, status: 'completed', outcome: 'x' } as const
  const startsHere = (policy: PolicyPatch): Command => {
    const message = { message_id: 'm1', message: 'Do it.', model: 'demo:one' }
    return { type: 'start_turn', turn_id: 'turn-1', ...message, policy, workspace: WORKSPACE }
  }

  it.each([false, true])('is pending if its checks may run, with a judge of ours: %s', assessor => {
    const chat = new Driver()
    const policy = { review: false, assessor, gate: false }
    if (assessor) chat.run(startsHere(policy))
    else chat.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'task_manager', host: policy, workspace: WORKSPACE })
    chat.run(chat.adds('model', DONE))
    expect([chat.task(1).status, chat.task(1).outcome]).toEqual(['in_progress', undefined])
    expect(nextRun(chat.state, 'turn-1')).toMatchObject({ why: 'baseline', check: NPM })
  })

  it.each([
    ['nobody allows its checks', { allowed: undefined }, WORKSPACE],
    ['there is no workspace', {}, undefined],
  ])('is done at its word if %s', (_, more, workspace) => {
    const chat = new Driver()
    const host = { review: false, assessor: false }
    chat.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'task_manager', host, workspace })
    chat.run(chat.adds('model', { ...DONE, ...more }))
    expect(chat.task(1).status).toBe('completed')
  })

  it('[AS1] an ok grants nothing before the checks', () => {
    const chat = new Driver()
    chat.run(startsHere({ review: false, assessor: true, gate: false }))
    chat.run(chat.adds('model', WITH_CHECK))
    chat.holds(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    chat.run(chat.assesses(1))
    expect(chat.settlesCall()).toEqual({ needs: 'checks' })
    expect(chat.task(1).status).toBe('in_progress')
  })
})

describe('a completed task whose check failed when it last ran', () => {
  /** A is proven; B has the same check. */
  const shared = (): Plan => {
    const plan = new Plan(approved('A', NPM), approved('B', NPM))
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    return plan
  }

  it('[CM11] is checked again before the plan ends, and open again if it still fails', () => {
    const plan = shared()
    plan.claims(2, 'call-2')
    plan.runs('failed', { fingerprint: 'f2' })
    plan.resumes(2, 'call-2')
    plan.run(plan.sets('model', 2, { status: 'blocked', outcome: 'It cannot be done.' }))
    plan.runs('failed', { fingerprint: 'f2' })
    expect(plan.task(1).status).toBe('in_progress')
  })

  it('[CM11] stays done if it passes then; a final pass that failed is not made again on the same files', () => {
    const plan = shared()
    plan.run(plan.sets('person', 2, { status: 'completed' }))
    plan.run({ type: 'request_check', task: 1, check_id: NPM.id })
    plan.runs('passed')
    expect(plan.task(1).status).toBe('completed')
    plan.run(plan.sets('person', 1, { status: 'completed' }))
    plan.run({ type: 'request_check', task: 1, check_id: NPM.id })
    plan.runs('failed')
    expect(plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f1' })).toHaveLength(1)
    plan.runs('failed')
    expect(plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f1' })).toEqual([])
    expect(plan.standing(1)).toMatchObject({
      standing: 'confirmed',
      reasons: [expect.anything(), 'npm test: fails now'],
    })
  })
})

describe('a check of the whole plan', () => {
  const LINT: Check = { kind: 'command', run: ['npm', 'run', 'lint'], id: 'd1', hash: 'h-lint' }

  /** The claim on the last open task waits for the final run. */
  const ending = (): Driver => {
    const chat = new Driver()
    const host = { review: false, assessor: false }
    const place = { workspace: WORKSPACE, done_checks: [LINT] }
    chat.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'runsheet', host, ...place })
    chat.run(chat.adds('model', 'A'))
    chat.answer()
    // Before the work it does not run: only the files are recorded.
    expect(nextRun(chat.state, 'turn-1')).toEqual({ turn_id: 'turn-1', check: LINT, why: 'baseline', at: chat.now })
    chat.run({ type: 'take_baseline', turn_id: 'turn-1', plan_id: 'turn-1', record: 'r1' })
    expect(nextRun(chat.state, 'turn-1')).toBeUndefined()
    chat.holds(settles(chat), CALL)
    chat.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f1' })
    return chat
  }
  const settles = (chat: Driver) => chat.sets('model', 1, { status: 'completed', outcome: 'x' })
  const again = (chat: Driver) => chat.settlesCall(CALL, { seen: { fingerprint: 'f1' } })
  const ran = (chat: Driver, outcome: RunOutcome) => {
    const run = { turn_id: 'turn-1', run_id: 'r', hash: LINT.hash }
    chat.run({ type: 'start_check', ...run, why: 'final' })
    chat.run({ type: 'end_check', ...run, outcome })
    return again(chat)
  }

  it('[TC12] that fails refuses the claim that leaves nothing open, and does not count against its task', () => {
    const chat = ending()
    const refusal = ran(chat, { result: 'failed', exit: 2, tail: 'no semicolons', duration_ms: 1, fingerprint: 'f1' })
    expect(refusal).toMatchObject({ code: 'plan_check_failed', data: { exit: 2, tail: 'no semicolons' } })
    expect((refusal as Error).message).toMatch(/`npm run lint`, a check of the whole plan, fails with exit code 2/)
    expect([chat.task(1).status, chat.state.proof.get(chat.task(1).id)?.reds ?? 0]).toEqual(['in_progress', 0])
  })

  it('[TC12] that passed refuses nothing', () => {
    const chat = ending()
    ran(chat, { result: 'passed', duration_ms: 1, fingerprint: 'f1' })
    expect(chat.task(1).status).toBe('completed')
  })

  it('[TC12] that could not be run, however often, refuses it with the reason and the way out', () => {
    const chat = ending()
    const gone = { result: 'inconclusive', duration_ms: 1, reason: 'The program npm was not found.' } as const
    expect(ran(chat, gone)).toEqual(RUNS)
    chat.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f1' })
    const refusal = ran(chat, gone)
    expect(refusal).toMatchObject({ code: 'plan_check_failed' })
    expect((refusal as Error).message).toMatch(
      /could not be run: The program npm was not found\. This does not count against the task\. If you changed .* mend it or its settings\.$/,
    )
    expect(chat.task(1).status).toBe('in_progress')
    // A person who settles the task has the last word on it; the plan is not done for that.
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    expect(dataOf(chat.finish('turn-1'), 'turn_finished')).toMatchObject([{ status: 'incomplete' }])
  })

  it('[TC12] that passed after changes outside the scopes refuses it until a person accepts them', () => {
    const chat = ending()
    const changes = [{ path: 'lint.sh', is: 'protected', hash: 'g1' }] as const
    const refusal = ran(chat, { result: 'passed', duration_ms: 1, fingerprint: 'f1', changes })
    expect(refusal).toMatchObject({ code: 'plan_check_failed', data: { changes } })
    expect((refusal as Error).message).toMatch(
      /lint\.sh changed outside the scopes of the plan.* a person, who can accept/,
    )
    chat.run({ type: 'accept_changes', task: 1, paths: ['lint.sh'] })
    chat.answer()
    chat.holds(settles(chat), CALL)
    again(chat)
    expect(chat.task(1).status).toBe('completed')
  })

  it('[TC12] is none of a turn without a plan', () => {
    const chat = ending()
    ran(chat, { result: 'failed', exit: 2, duration_ms: 1 })
    chat.run({ type: 'stop_turn', turn_id: 'turn-1' })
    const place = { workspace: WORKSPACE, done_checks: [LINT] }
    chat.run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', host: {}, plans: true, ...place })
    expect(chat.run({ type: 'request_final', turn_id: 'turn-2', fingerprint: 'f2' })).toEqual([])
    expect(dataOf(chat.finish('turn-2'), 'turn_finished')).toMatchObject([{ status: 'done' }])
  })
})
