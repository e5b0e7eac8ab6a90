import { describe, expect, it } from 'vitest'
import { approved, FILE, NPM, Plan, WORKSPACE } from '../../../test/support/checked-plan.ts'
import { dataOf } from '../../../test/support/domain.ts'
import type { CheckResult } from './check.ts'
import { staleChecks } from './check-runs.ts'
import { checkState } from './check-state.ts'

/** Claims a task, with these results of its runs, and makes the call again. */
function claim(plan: Plan, number: number, result: CheckResult, more: object = {}): void {
  const call = `call-${plan.state.seq}`
  plan.claims(number, call)
  plan.runs(result, more)
  plan.resumes(number, call)
  plan.answer()
}

/** A person adds a task with this check to the plan, and its run at the start has this result. */
function plans(plan: Plan, title: string, result: CheckResult): void {
  plan.run(plan.edits('person', { create: [{ id: plan.id(), title, checks: [NPM] }] }))
  plan.answer()
  plan.runs(result)
}

const standings = (plan: Plan, ...numbers: readonly number[]) => numbers.map(each => plan.standing(each)?.standing)

const GUARDS = {
  passed: 'npm test: passed already, so it only guards',
  inconclusive: 'npm test: was not seen to fail at the start, so it only guards',
}

describe('a check that did not fail at the start', () => {
  it('[TC1] had no result there: breaking and restoring what it checks proves nothing', () => {
    const plan = new Plan(approved('A', NPM))
    plan.run({ type: 'start_check', turn_id: 'turn-1', run_id: 'r1', hash: NPM.hash, why: 'baseline' })
    plan.run({ type: 'stop_check', task: 1, check_id: NPM.id })
    claim(plan, 1, 'failed')
    claim(plan, 1, 'passed')
    expect(plan.standing(1)).toEqual({ standing: 'reported', reasons: ["the agent's word", GUARDS.inconclusive] })
  })

  it.each(['passed', 'inconclusive'] as const)(
    '[TC1] %s: broken and planned again, it proves no later task of the plan either, also if the first is removed',
    result => {
      for (const isRemoved of [false, true]) {
        const plan = new Plan(approved('A', NPM), { title: 'Z' })
        plan.runs(result)
        if (isRemoved) plan.run(plan.removes('person', 1))
        plans(plan, 'B', 'failed')
        claim(plan, 3, 'passed')
        expect(plan.standing(3)?.reasons).toContain(GUARDS[result])
      }
    },
  )

  it('[TC1] proves in a plan of its own, where it fails at the start: a test that was written first', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('passed')
    claim(plan, 1, 'passed')
    plan.run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', host: {}, workspace: WORKSPACE, plans: true })
    plan.run(plan.edits('person', { create: [{ id: plan.id(), title: 'B', checks: [NPM] }], turn_id: 'turn-2' }))
    plan.answer()
    plan.runs('failed', {}, 'turn-2')
    plan.claims(2, 'call-2', 'turn-2')
    plan.runs('passed', {}, 'turn-2')
    plan.resumes(2, 'call-2', 'turn-2')
    expect(standings(plan, 1, 2)).toEqual(['reported', 'proven'])
  })

  it('[CM10] that a person adds later, even to a task that is done, proves if it fails then', () => {
    const plan = new Plan({ title: 'A' }, { title: 'B' })
    plan.run(plan.settles(1))
    plan.run(plan.sets('person', 1, { checks: [NPM] }))
    plan.answer()
    plan.runs('failed')
    plan.run(plan.sets('person', 1, { status: 'pending' }))
    plan.answer()
    claim(plan, 1, 'passed')
    expect(standings(plan, 1)).toEqual(['proven'])
  })
})

describe('a check that a person takes from a task and adds again', () => {
  it.each([
    ['passed', 'reported'],
    ['failed', 'proven'],
  ] as const)('[CM10] is seen as it is then: it %s, so the task ends as %s', (result, standing) => {
    const plan = new Plan(approved('A', NPM), { title: 'Z' })
    plan.runs('failed')
    plan.run(plan.sets('person', 1, { checks: [] }))
    plan.run(plan.sets('person', 1, { checks: [NPM] }))
    plan.answer()
    expect(checkState(plan.state, plan.task(1), NPM)).toBe('waiting')
    plan.runs(result)
    claim(plan, 1, 'passed')
    expect(standings(plan, 1)).toEqual([standing])
  })
})

describe('one check of several tasks', () => {
  const shared = (): Plan => {
    const plan = new Plan(approved('A', NPM), approved('B', NPM), { title: 'C' })
    plan.runs('failed')
    claim(plan, 1, 'passed')
    return plan
  }

  it('[CM10] proves the one that did the work: breaking and restoring it under another takes nothing from it', () => {
    const plan = shared()
    claim(plan, 2, 'failed')
    expect(standings(plan, 1)).toEqual(['reported'])
    claim(plan, 2, 'passed')
    expect(standings(plan, 1, 2)).toEqual(['proven', 'reported'])
    expect(plan.standing(2)?.reasons).toContain('npm test: proves task 1, so here it only guards')
  })

  it('[CM10] once it has proven one, no other of the plan: planned again, or after the first has another text', () => {
    const plan = shared()
    plans(plan, 'D', 'failed')
    claim(plan, 4, 'passed')
    expect(standings(plan, 1, 4)).toEqual(['proven', 'reported'])
    plan.run({ type: 'set_policy', by: 'person', policy: { review: false } })
    plan.run(plan.sets('model', 1, { title: 'A and much more' }))
    claim(plan, 2, 'failed')
    claim(plan, 2, 'passed')
    expect(standings(plan, 1, 2)).toEqual(['reported', 'reported'])
    expect(plan.standing(2)?.reasons).toContain('npm test: no claim on this text saw it turn, so it only guards')
  })

  it('[CM10] proves the first though a later one passes at the start, before the first is claimed', () => {
    const plan = new Plan(approved('A', NPM), { title: 'Z' })
    plan.runs('failed')
    plans(plan, 'B', 'passed')
    claim(plan, 1, 'passed')
    expect(standings(plan, 1)).toEqual(['proven'])
  })

  it('[CM10] in plans of their own, it proves one of each', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    claim(plan, 1, 'passed')
    plan.run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', host: {}, workspace: WORKSPACE, plans: true })
    plan.run(plan.edits('person', { create: [{ id: plan.id(), title: 'B', checks: [NPM] }], turn_id: 'turn-2' }))
    plan.answer()
    plan.runs('failed', { fingerprint: 'f2' }, 'turn-2')
    plan.claims(2, 'call-2', 'turn-2')
    plan.runs('passed', { fingerprint: 'f3' }, 'turn-2')
    plan.resumes(2, 'call-2', 'turn-2', { fingerprint: 'f3' })
    expect(standings(plan, 1, 2)).toEqual(['proven', 'proven'])
  })
})

describe('a run without a result', () => {
  /** A and B are proven, and the plan is over. */
  const over = (): Plan => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    claim(plan, 1, 'passed')
    claim(plan, 2, 'passed')
    expect(standings(plan, 1, 2)).toEqual(['proven', 'proven'])
    return plan
  }
  const stopped = { fingerprint: undefined, reason: 'It was stopped.' }

  it('leaves the earlier pass standing, and says so; and says nothing about other checks', () => {
    const plan = over()
    plan.run({ type: 'request_check', task: 2, check_id: FILE.id })
    plan.runs('inconclusive', stopped)
    expect(standings(plan, 1, 2)).toEqual(['proven', 'proven'])
    expect(plan.standing(1)?.reasons).toEqual(['npm test: failed before, passes now'])
    expect(plan.standing(2)?.reasons).toEqual(['a.md exists: failed before, passes now; a later run had no result'])
    expect(checkState(plan.state, plan.task(2), FILE)).toBe('passed')
    expect(staleChecks(plan.state, 'turn-1', 'f1')).toEqual([])
  })

  it('for a claim that is refused, too', () => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    claim(plan, 1, 'passed')
    claim(plan, 2, 'inconclusive', stopped)
    expect(standings(plan, 1)).toEqual(['proven'])
  })

  it('keeps the changes that a person has to accept', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    claim(plan, 1, 'passed', { changes: [{ path: 'test/a.js', is: 'protected', hash: 'g1' }] })
    plan.run({ type: 'request_check', task: 1, check_id: NPM.id })
    plan.runs('inconclusive', stopped)
    expect(standings(plan, 1)).toEqual(['reported'])
    plan.run({ type: 'accept_changes', task: 1, paths: ['test/a.js'] })
    expect(standings(plan, 1)).toEqual(['proven'])
  })

  it('[CM11] still tells that the files changed, if it saw them; and at the end of a plan nothing stands without a result', () => {
    const changed = over()
    changed.run({ type: 'request_check', task: 2, check_id: FILE.id })
    changed.runs('inconclusive', { fingerprint: 'f2' })
    expect(changed.standing(1)?.reasons).toContain('npm test: passed before the workspace changed')
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed')
    claim(plan, 1, 'passed')
    plan.claims(2)
    plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f2' })
    plan.runs('inconclusive', stopped)
    plan.resumes(2)
    expect(plan.standing(1)?.reasons).toContain('npm test: had no result when it last ran')
  })
})

describe('the claim that ends a plan', () => {
  /** A is done, B is claimed; the final run of A saw other files than the run for B. */
  const ending = (): Plan => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    claim(plan, 1, 'passed')
    plan.claims(2)
    plan.runs('passed', { fingerprint: 'f2' })
    const first = plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f2' })
    expect(dataOf(first, 'check_requested').map(({ hash }) => hash)).toEqual([NPM.hash])
    plan.runs('passed', { fingerprint: 'f2' })
    return plan
  }

  it('[CM11] is checked again in the second pass, if the first has changed the files: the result is fresh', () => {
    const plan = ending()
    const second = plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f3' })
    expect(dataOf(second, 'check_requested').map(({ hash }) => hash)).toEqual([NPM.hash, FILE.hash])
    plan.runs('passed', { fingerprint: 'f3' })
    plan.runs('passed', { fingerprint: 'f4' })
    plan.resumes(2)
    expect(standings(plan, 1, 2)).toEqual(['proven', 'proven'])
  })

  it('[CM11] is not checked again if the files are as they were', () => {
    const plan = ending()
    expect(plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f2' })).toEqual([])
  })

  it.each([
    ['failed', 'check_failed'],
    ['inconclusive', 'not_checked'],
  ] as const)('[CM11] is refused if its check %s then', (result, code) => {
    const plan = ending()
    plan.run({ type: 'request_final', turn_id: 'turn-1', fingerprint: 'f3' })
    plan.runs('passed', { fingerprint: 'f3' })
    plan.runs(result, { fingerprint: 'f3' })
    expect(plan.resumes(2)).toMatchObject({ code })
    expect(plan.task(2).status).toBe('in_progress')
  })
})
