import { describe, expect, it } from 'vitest'
import { FILE, NPM, Plan, WORKSPACE, approved } from '../../../test/support/checked-plan.ts'
import type { CheckResult } from '../proof/check.ts'
import { nextRun } from '../proof/check-runs.ts'
import { planOf } from './plan.ts'
import { unpassedChecks } from '../proof/check-state.ts'

const PATH = 'test/a.test.js'
const TESTS = { changes: [{ path: PATH, is: 'protected', hash: 'g1' }] } as const
const standings = (plan: Plan, ...numbers: readonly number[]) => numbers.map(each => plan.standing(each)?.standing)

/** Claims a task in a turn, with this result of its run, on these files. */
function claim(plan: Plan, number: number, result: CheckResult, more: { fingerprint?: string } = {}, turn = 'turn-1') {
  const call = `call-${plan.state.seq}`
  plan.claims(number, call, turn)
  plan.runs(result, more, turn)
  plan.resumes(number, call, turn, { fingerprint: more.fingerprint ?? 'f1' })
  plan.answer()
}

/** Another plan of the conversation, in a turn of its own, whose check had this result at the start. */
function another(plan: Plan, result: CheckResult, more: object = {}): void {
  plan.run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', host: {}, workspace: WORKSPACE, plans: true })
  plan.run(plan.edits('person', { create: [{ id: plan.id(), title: 'Other', checks: [NPM] }], turn_id: 'turn-2' }))
  plan.answer()
  plan.runs(result, more, 'turn-2')
}

describe('the runs of another plan with the same check', () => {
  it('[CM12] do not free a task of its changes: they were compared with another confirmation', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    claim(plan, 1, 'passed', TESTS as object)
    expect(standings(plan, 1)).toEqual(['reported'])
    another(plan, 'passed')
    expect(plan.standing(1)?.reasons).toContain('npm test: changed outside its scope: test/a.test.js')
    plan.run({ type: 'accept_changes', task: 1, paths: [PATH] })
    expect(standings(plan, 1)).toEqual(['proven'])
  })

  it('[CM12] do not take a proof away, though files changed for that plan', () => {
    const plan = new Plan(approved('A', NPM))
    plan.runs('failed')
    claim(plan, 1, 'passed')
    another(plan, 'passed', { fingerprint: 'f2', ...TESTS })
    expect(standings(plan, 1)).toEqual(['proven'])
  })

  it('make nothing out of date in a plan that is over', () => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    claim(plan, 1, 'passed')
    claim(plan, 2, 'passed')
    another(plan, 'failed', { fingerprint: 'f9' })
    expect(standings(plan, 1, 2)).toEqual(['proven', 'proven'])
  })

  it('a run for a task dates the plan of the task, whichever turn asks for it', () => {
    const plan = new Plan(approved('A', NPM), approved('B', FILE))
    plan.runs('failed')
    plan.runs('failed')
    claim(plan, 1, 'passed')
    claim(plan, 2, 'passed')
    another(plan, 'failed', { fingerprint: 'f1' })
    plan.run(plan.sets('person', 2, { status: 'pending' }))
    plan.answer('turn-2')
    plan.claims(2, 'call-9', 'turn-2')
    plan.runs('passed', { fingerprint: 'f9' }, 'turn-2')
    expect(plan.standing(1)?.reasons).toContain('npm test: passed before the workspace changed')
  })

  it('[CM10] that turned green there prove nothing here any more: the work was done for that task', () => {
    const plan = new Plan(approved('A', NPM), { title: 'Z' })
    plan.runs('failed')
    another(plan, 'failed')
    claim(plan, 1, 'passed')
    claim(plan, 3, 'failed', {}, 'turn-2')
    claim(plan, 3, 'passed', {}, 'turn-2')
    expect(standings(plan, 1, 3)).toEqual(['proven', 'reported'])
    expect(plan.standing(3)?.reasons).toContain('npm test: proves task 1, so here it only guards')
  })
})

describe('a run for one task of a plan', () => {
  it('[CM12] says of each other with the same check what changed without its leave', () => {
    const plan = new Plan(approved('A', NPM), approved('B', NPM), { title: 'Z' })
    plan.runs('failed')
    // A may change the tests, B may not.
    claim(plan, 1, 'passed', { others: [{ task_id: plan.task(2).id, ...TESTS }] } as object)
    expect(standings(plan, 1)).toEqual(['proven'])
    claim(plan, 2, 'passed', { ...TESTS, others: [] } as object)
    expect(standings(plan, 1, 2)).toEqual(['proven', 'reported'])
    expect(plan.standing(2)?.reasons).toContain('npm test: changed outside its scope: test/a.test.js')
  })
})

it('[CM11] the claim that ends a plan is not granted on files that changed while its own check ran', () => {
  const plan = new Plan(approved('A', NPM))
  plan.runs('failed')
  plan.claims(1)
  plan.runs('passed', { fingerprint: 'f2' })
  const answer = plan.resumes(1, undefined, undefined, { fingerprint: 'f1' })
  expect(answer).toEqual({ needs: 'runs' })
  expect(unpassedChecks(planOf(plan.state, 'turn-1'))).toEqual([])
  expect(plan.task(1).status).not.toBe('completed')
})

describe('a claim that cannot be proven', () => {
  it('[CM10] takes nothing from a task that the check failed for at the start', () => {
    const plan = new Plan(approved('A', NPM), { title: 'Z' })
    plan.runs('failed')
    another(plan, 'passed')
    claim(plan, 3, 'passed', {}, 'turn-2')
    claim(plan, 1, 'passed')
    expect(standings(plan, 1, 3)).toEqual(['proven', 'reported'])
  })

  it('[CM12] because of an edited test leaves the proof to the task that does the work, unless a person accepts it', () => {
    for (const isAccepted of [false, true]) {
      const plan = new Plan(approved('A', NPM), approved('B', NPM), { title: 'Z' })
      plan.runs('failed')
      claim(plan, 1, 'passed', TESTS as object)
      if (isAccepted) plan.run({ type: 'accept_changes', task: 1, paths: [PATH] })
      claim(plan, 2, 'passed', { others: [] } as object)
      expect(standings(plan, 1, 2)).toEqual(isAccepted ? ['proven', 'reported'] : ['reported', 'proven'])
    }
  })
})

it('[CM10] how a check stood when it was approved counts, not how it stood at the start of another plan', () => {
  const plan = new Plan({ title: 'A', checks: [NPM] }, { title: 'Z' })
  another(plan, 'failed')
  plan.run(plan.edits('person', { change: [{ task: 1, fields: {}, approve: [NPM.hash] }] }))
  plan.answer()
  plan.runs('passed')
  claim(plan, 1, 'passed')
  expect(plan.standing(1)?.reasons).toContain('npm test: passed already, so it only guards')
})

describe('what a completed task may change', () => {
  const leaves = (plan: Plan, scope: readonly string[]): void => {
    plan.run(plan.edits('person', { change: [{ task: 1, fields: { scope } }] }))
    plan.answer()
  }

  it('if a person allows more, its checks run again, and prove what the claim saw pass', () => {
    const plan = new Plan(approved('A', NPM), { title: 'Z' })
    plan.runs('failed')
    claim(plan, 1, 'passed', TESTS as object)
    leaves(plan, ['test/**'])
    expect(nextRun(plan.state, 'turn-1')).toMatchObject({ task_id: plan.task(1).id, why: 'person' })
    plan.runs('passed')
    expect(standings(plan, 1)).toEqual(['proven'])
  })

  it('if a person allows less, its checks run again, and prove nothing until the changes are accepted', () => {
    const plan = new Plan({ ...approved('A', NPM), scope: ['test/**'] }, { title: 'Z' })
    plan.runs('failed')
    claim(plan, 1, 'passed')
    expect(standings(plan, 1)).toEqual(['proven'])
    leaves(plan, [])
    plan.runs('passed', TESTS)
    expect(plan.standing(1)?.reasons).toContain('npm test: changed outside its scope: test/a.test.js')
    plan.run({ type: 'accept_changes', task: 1, paths: [PATH] })
    expect(standings(plan, 1)).toEqual(['proven'])
  })

  it('nothing runs if it is as before, or before the task is done', () => {
    const plan = new Plan({ ...approved('A', NPM), scope: ['test/**'] }, { title: 'Z' })
    plan.runs('failed')
    leaves(plan, [])
    leaves(plan, ['test/**'])
    expect(nextRun(plan.state, 'turn-1')).toBeUndefined()
    claim(plan, 1, 'passed')
    leaves(plan, ['test/**'])
    expect(nextRun(plan.state, 'turn-1')).toBeUndefined()
  })

  it('another run proves nothing that no claim saw', () => {
    const plan = new Plan(approved('A', NPM), { title: 'Z' })
    plan.runs('failed')
    plan.run(plan.sets('person', 1, { status: 'completed' }))
    plan.answer()
    plan.run({ type: 'request_check', task: 1, check_id: NPM.id })
    plan.runs('passed')
    expect(standings(plan, 1)).toEqual(['confirmed'])
  })
})
