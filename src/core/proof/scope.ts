import type { Check } from './check.ts'
import type { FileChange } from './file-change.ts'
import { checkedOf, type Plan, planById, type Plans, tasksOf } from '../model/plan.ts'
import { type CheckRun, countingRun, planRuns, proofOf, type Proofs, taskRuns } from './proof.ts'
import { valueIn } from '../model/table.ts'
import type { Task } from '../model/task.ts'

/** The files that a step may change. */
export interface Scope {
  /** Absent: the work folders. */
  readonly globs?: readonly string[]
  /** A person gave or approved it. Otherwise it loosens nothing: it only narrows the work folders. */
  readonly isApproved: boolean
}

/** The scopes that a run's changes are compared with. */
export interface Scopes {
  /** Of the step whose check runs; of all steps that have begun for a check of the whole plan. */
  readonly own: readonly Scope[]
  /** Of each step that is in progress or done. */
  readonly begun: readonly Scope[]
  /** For a check of the whole plan, only protected files count that no step may change. */
  readonly isOfPlan?: true
}

export function scopesOf(state: Proofs, plan: Plan, task: Task | undefined): Scopes {
  const begun = tasksOf(state, plan)
    .filter(each => each.id === task?.id || hasBegun(each))
    .map(each => scopeOf(state, each))
  return task ? { own: [scopeOf(state, task)], begun } : { own: begun, begun, isOfPlan: true }
}

/** A disputed step has begun, too: an honest way out must not spoil the other steps. */
const hasBegun = ({ status, dispute }: Task): boolean =>
  status === 'in_progress' || status === 'completed' || (status === 'blocked' && dispute !== undefined)

const scopeOf = (state: Pick<Proofs, 'proof'>, { id, scope }: Task): Scope =>
  scope ? { globs: scope, isApproved: proofOf(state, id).scoped === true } : { isApproved: false }

/** The changes that a person has not accepted. Until then the check proves nothing for the task. */
export const waitingChanges = (state: Proofs, task: Task, check: Check): readonly FileChange[] =>
  waitingIn(state, task, countingRun(taskRuns(state, task.id, check.hash)))

export function waitingIn(
  state: Changed,
  task: Task,
  run: Pick<CheckRun, 'changes'> | undefined,
): readonly FileChange[] {
  const plan = planById(state, task.plan_id)
  return (run?.changes ?? []).filter(
    change => !isAccepted(plan, change) && !(change.is === 'protected' && isVouchedFor(state, plan, task, change)),
  )
}

/** The same for a check of the whole plan: until then it does not count. */
export const planChanges = (plan: Plan, { hash }: Check): readonly FileChange[] =>
  (countingRun(planRuns(plan, hash))?.changes ?? []).filter(change => !isAccepted(plan, change))

const isAccepted = ({ accepted = {} }: Plan, { path, hash = '' }: FileChange): boolean => accepted[path] === hash

type Changed = Plans & Pick<Proofs, 'proof'>

/** A step that a person settled changed the file to this content, within its own scope. */
const isVouchedFor = (state: Changed, plan: Plan, task: Task, { path, hash }: FileChange): boolean =>
  checkedOf(state, plan).some(
    ({ id, status, judged_by }) =>
      id !== task.id &&
      status === 'completed' &&
      judged_by === 'person' &&
      Object.values(valueIn(state.proof, id)?.runs ?? {}).some(({ last }) =>
        last.changes?.some(change => change.is === 'own' && change.path === path && change.hash === hash),
      ),
  )
