import type { Check, CheckResult } from '../../src/core/proof/check.ts'
import type { SeenWorkspace } from '../../src/core/model/command.ts'
import { nextRun } from '../../src/core/proof/check-runs.ts'
import type { SubmittedRow } from '../../src/core/model/review.ts'
import { standingOf } from '../../src/core/proof/standing.ts'
import { Driver } from './domain.ts'

export const WORKSPACE = { machine: 'here', path: '/work' }
export const NPM: Check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h-npm' }
export const FILE: Check = { kind: 'file', path: 'a.md', id: 'c2', hash: 'h-file' }
export const TICK: Check = { kind: 'person', ask: 'Looks right?', id: 'c3', hash: 'h-tick' }
export const CALL = 'call-9'

/** A turn of an agent elsewhere with a workspace, and a confirmed plan. */
export class Plan extends Driver {
  #runs = 0

  constructor(...rows: readonly SubmittedRow[]) {
    super()
    this.run({ type: 'open_turn', turn_id: 'turn-1', toolset: 'runsheet', host: {}, workspace: WORKSPACE })
    this.run(this.adds('model', ...rows.map(({ title = '', checks }) => ({ title, checks }))))
    this.run(this.confirms(rows))
    this.answer()
  }

  /** Makes the next run, with this result. */
  runs(result: CheckResult, more: object = {}, turn_id = 'turn-1'): void {
    const next = nextRun(this.state, turn_id)
    if (!next) throw new Error('nothing is to be run')
    this.#runs += 1
    const run_id = `run-${this.#runs}`
    const { hash } = next.check
    this.run({ type: 'start_check', turn_id, run_id, hash, why: next.why })
    const exit = result === 'passed' ? 0 : 1
    const outcome = { result, exit, duration_ms: 5, fingerprint: 'f1', ...more }
    this.run({ type: 'end_check', turn_id, run_id, hash, outcome })
  }

  settles(number: number, more: object = {}) {
    return this.sets('model', number, { status: 'completed', outcome: 'Done' }, more)
  }

  claims(number: number, call = CALL, turn_id = 'turn-1'): void {
    this.holds({ ...this.settles(number), turn_id }, call)
  }

  /** Settles the claiming call, after a look at the workspace. */
  resumes(_number: number, call = CALL, turn_id = 'turn-1', seen: SeenWorkspace = { fingerprint: 'f1' }) {
    return this.settlesCall(call, { seen }, turn_id)
  }

  standing(number: number) {
    return standingOf(this.state, this.task(number))
  }
}

/** A row whose checks the person approves. */
export const approved = (title: string, ...checks: Check[]): SubmittedRow => ({
  title,
  checks,
  approve: checks.filter(({ kind }) => kind !== 'person').map(({ hash }) => hash),
})
