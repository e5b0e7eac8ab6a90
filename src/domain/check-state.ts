import type { Check, Workspace } from './check.ts'
import { lineage, planTurnOf } from './lineage.ts'
import { type CheckRun, proofOf, type Proofs, recordOf, workspaceOf } from './proof.ts'
import { valueIn, valuesIn } from './table.ts'
import type { Task } from './task.ts'

/** How a check stands; `stale`: it passed before the workspace changed. */
export type CheckState = 'waiting' | 'running' | 'passed' | 'failed' | 'inconclusive' | 'stale'

/** How a check of a task stands, for people. */
export function checkState(state: Proofs, task: Task, check: Check): CheckState {
  return check.kind !== 'person' && isRunning(state, check) ? 'running' : lastState(state, task, check)
}

/** How a check that runs stands, whichever task or plan has it. */
export function runState(state: Pick<Proofs, 'runs' | 'turns'>, check: Check): CheckState {
  return isRunning(state, check) ? 'running' : lastRunState(state, check)
}

const isRunning = (state: Pick<Proofs, 'runs'>, { hash }: Check): boolean => recordOf(state, hash).started !== undefined

/** The same as of the last run: one under way changes nothing before it ends. */
export function lastState(state: Proofs, task: Task, check: Check): CheckState {
  if (check.kind === 'person') return proofOf(state, task.id).ticked.includes(check.id) ? 'passed' : 'waiting'
  const stands = lastRunState(state, check)
  return stands === 'passed' && hasMoved(state, task, check) ? 'stale' : stands
}

function lastRunState(state: Pick<Proofs, 'runs' | 'turns'>, check: Check): CheckState {
  const { last } = recordOf(state, check.hash)
  if (!last) return 'waiting'
  return last.result === 'passed' && isStale(state, last) ? 'stale' : last.result
}

/** Whether a check last ran before its plan went on in another workspace, where nothing of this one is checked. */
export function hasMoved(state: Pick<Proofs, 'turns' | 'adopted' | 'runs'>, task: Task, { hash }: Check): boolean {
  const { last } = recordOf(state, hash)
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
 * Whether a later run in the same workspace saw other files; without a fingerprint, whether there was one, or a claim. Runs
 * of a final pass are fresh whatever the others of it write.
 */
function isStale(state: Pick<Proofs, 'runs' | 'turns'>, { turn_id, why, fingerprint, seq }: CheckRun): boolean {
  const place = (turnId: string): string | undefined => valueIn(state.turns, turnId)?.workspace?.path
  const isLater = (turnId: string, at = 0): boolean => at > seq && place(turnId) === place(turn_id)
  // Without a fingerprint, the run for a claim is of the pass that belongs to it.
  const isOfPass = why === 'final' || (why === 'claim' && !fingerprint)
  for (const { last } of valuesIn(state.runs)) {
    if (!last || !isLater(last.turn_id, last.seq) || (fingerprint && last.fingerprint === fingerprint)) continue
    if (!isOfPass || last.why !== 'final' || last.turn_id !== turn_id) return true
  }
  return !fingerprint && [...valuesIn(state.turns)].some(({ id, claimed }) => isLater(id, claimed))
}

/** The guarded files that keep a check of a task from proving anything, until a person accepts them. */
export function waitingGuards(state: Pick<Proofs, 'runs' | 'proof'>, task: Task, check: Check): readonly string[] {
  const { last } = recordOf(state, check.hash)
  if (!last?.guarded?.length) return []
  return proofOf(state, task.id).accepted.includes(last.guard ?? '') ? [] : last.guarded
}

export const isSamePlace = (a: Workspace | undefined, b: Workspace | undefined): boolean =>
  a !== undefined && a.path === b?.path && a.machine === b.machine
