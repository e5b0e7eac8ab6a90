import type { Check, Workspace } from './check.ts'
import { isSameLineage, lineage, planTurnOf } from './lineage.ts'
import { type CheckRun, countingRun, planRuns, proofOf, type Proofs, recordOf, taskRuns, workspaceOf } from './proof.ts'
import { valueIn, valuesIn } from './table.ts'
import type { Task } from './task.ts'
import type { Turn } from './turn.ts'

/** How a check stands; `stale`: it passed before the workspace changed. */
export type CheckState = 'waiting' | 'running' | 'passed' | 'failed' | 'inconclusive' | 'stale'

/** How a check of a task stands, for people. */
export function checkState(state: Proofs, task: Task, check: Check): CheckState {
  return check.kind !== 'person' && isRunning(state, check) ? 'running' : lastState(state, task, check)
}

/** How a check of the whole plan stands. */
export function planCheckState(state: Pick<Proofs, 'runs' | 'turns'>, turnId: string, check: Check): CheckState {
  if (isRunning(state, check)) return 'running'
  return stateOf(state, countingRun(planRuns(state, turnId, check.hash)))
}

const isRunning = (state: Pick<Proofs, 'runs'>, { hash }: Check): boolean => recordOf(state, hash).started !== undefined

/** The same as of the last run: one under way changes nothing before it ends. */
export function lastState(state: Proofs, task: Task, check: Check): CheckState {
  if (check.kind === 'person') return proofOf(state, task.id).ticked.includes(check.id) ? 'passed' : 'waiting'
  const stands = stateOf(state, countingRun(taskRuns(state, task.id, check.hash)))
  return stands === 'passed' && hasMoved(state, task, check) ? 'stale' : stands
}

function stateOf(state: Pick<Proofs, 'turns'>, run: CheckRun | undefined): CheckState {
  if (!run) return 'waiting'
  return run.result === 'passed' && isStale(state, run) ? 'stale' : run.result
}

/** Whether a check last ran before its plan went on in another workspace, where nothing of this one is checked. */
export function hasMoved(state: Pick<Proofs, 'turns' | 'adopted' | 'proof'>, task: Task, { hash }: Check): boolean {
  const last = countingRun(taskRuns(state, task.id, hash))
  const place = workspaceOf(state, task)
  const elsewhere = [...valuesIn(state.turns)].filter(({ workspace }) => workspace && !isSamePlace(workspace, place))
  // Most often there is none.
  if (!last || elsewhere.length === 0) return false
  const own = new Set([task.conversation_turn_id, planTurnOf(state, task)])
  const before = new Set(lineage(state, last.turn_id))
  return elsewhere.some(
    ({ id, claimed = 0 }) =>
      (!before.has(id) || claimed > last.seq) && lineage(state, id).some(earlier => own.has(earlier)),
  )
}

/**
 * Whether the newest run of the plan in the same workspace saw other files; without a fingerprint, whether there was one, or
 * a claim. Runs of a final pass are fresh whatever the others of it write.
 */
function isStale({ turns }: Pick<Proofs, 'turns'>, run: CheckRun): boolean {
  const { turn_id, why, fingerprint, seq } = run
  const path = valueIn(turns, turn_id)?.workspace?.path
  const isOfPlan = ({ id, workspace }: Turn): boolean =>
    workspace?.path === path && isSameLineage({ turns }, id, turn_id)
  const looks = [...valuesIn(turns)].flatMap(turn =>
    turn.looked && turn.looked.seq > seq && isOfPlan(turn) ? { ...turn.looked, turn_id: turn.id } : [],
  )
  const [newest] = looks.toSorted((a, b) => b.seq - a.seq)
  // Without a fingerprint, the run for a claim is of the pass that belongs to it.
  const isOfPass = why === 'final' || (why === 'claim' && !fingerprint)
  if (newest && !(fingerprint && newest.fingerprint === fingerprint)) {
    if (!isOfPass || newest.why !== 'final' || newest.turn_id !== turn_id) return true
  }
  return !fingerprint && [...valuesIn(turns)].some(turn => (turn.claimed ?? 0) > seq && isOfPlan(turn))
}

/** The guarded files that keep a check of a task from proving anything, until a person accepts them. */
export function waitingGuards(state: Pick<Proofs, 'proof'>, task: Task, check: Check): readonly string[] {
  const run = countingRun(taskRuns(state, task.id, check.hash))
  if (!run?.guarded?.length) return []
  return proofOf(state, task.id).accepted.includes(run.guard ?? '') ? [] : run.guarded
}

export const isSamePlace = (a: Workspace | undefined, b: Workspace | undefined): boolean =>
  a !== undefined && a.path === b?.path && a.machine === b.machine
