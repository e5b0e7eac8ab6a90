import type { Check, Workspace } from '../proof/check.ts'
import type { Reading } from './conversation.ts'
import type { Instant } from './instant.ts'
import type { PlanRuns, RunReason } from '../proof/proof.ts'
import { type Keyed, valueIn, valuesIn } from './table.ts'
import { byPosition, isOpen, type Task } from './task.ts'
import { countedAs, type PlanCounts } from './turn.ts'

/** The tasks that one or more turns work on together. */
export interface Plan {
  /** The id of the turn that began it. */
  readonly id: string
  /** The turns that worked on it, oldest first. Events outside of a turn belong to the last one. */
  readonly turns: readonly string[]
  /** The ids of its open tasks. */
  readonly open: readonly string[]
  /** Its listed tasks by status, and the number of removed ones. */
  readonly counts: PlanCounts
  /** The number of tasks that a model removed. */
  readonly dropped: number
  /** The ids of its tasks that have checks. */
  readonly checked: readonly string[]
  /** The workspace that its checks run in: that of its newest turn that has one. */
  readonly workspace?: Workspace
  /** The checks of the plan itself, which run before it ends. */
  readonly done_checks?: readonly Check[]
  /** Check hash to the runs of its own checks. */
  readonly runs?: Readonly<Record<string, PlanRuns>>
  /** The number of final passes since the newest claim, turn or follow-up. */
  readonly passes: number
  /** The seq of the newest claim on one of its tasks. */
  readonly claimed?: number
  /** The seq at which it moved to another workspace. */
  readonly moved?: number
  /** The record of the files as they were when it was approved, and the time at which it was first taken. */
  readonly baseline?: { readonly record: string | null; readonly at: Instant }
  /** Path to the content, by hash, that a person accepted; '' for files that are gone. */
  readonly accepted?: Readonly<Record<string, string>>
  /** The workspace as the newest run saw it. */
  readonly looked?: {
    readonly turn_id: string
    readonly seq: number
    readonly why: RunReason
    readonly fingerprint?: string
  }
  /** Another plan took over its open tasks. */
  readonly is_taken?: true
}

/** The input of these functions: a state or its snapshot. */
export type Plans = Reading<'tasks' | 'turns' | 'plans'>

const NO_COUNTS: PlanCounts = { completed: 0, blocked: 0, disputed: 0, cancelled: 0, removed: 0, open: 0 }

export const newPlan = (id: string): Plan => ({
  id,
  turns: [id],
  open: [],
  counts: NO_COUNTS,
  dropped: 0,
  checked: [],
  passes: 0,
})

export const planIdOf = ({ turns }: Pick<Plans, 'turns'>, turnId: string): string =>
  valueIn(turns, turnId)?.plan_id ?? turnId

/** The plan that a turn works on. */
export const planOf = (state: Pick<Plans, 'turns' | 'plans'>, turnId: string): Plan =>
  planById(state, planIdOf(state, turnId))

/** A plan by its id; an empty one if it has no events yet. */
export const planById = ({ plans }: Pick<Plans, 'plans'>, planId: string): Plan =>
  valueIn(plans, planId) ?? newPlan(planId)

/** The plan that a run is about: that of its task, else the one that its turn works on. */
export function planOfRun(state: Plans, taskId: string | undefined, turnId: string): Plan {
  const task = taskId === undefined ? undefined : valueIn(state.tasks, taskId)
  return task ? planById(state, task.plan_id) : planOf(state, turnId)
}

/** The plan whose record of files counts for a run: a task that moved to another plan keeps its own. */
export function planOfRecord(
  state: Plans & { readonly proof: Keyed<{ readonly confirmed_in?: string }> },
  taskId: string | undefined,
  turnId: string,
): Plan {
  const confirmed = taskId === undefined ? undefined : valueIn(state.proof, taskId)?.confirmed_in
  return confirmed === undefined ? planOfRun(state, taskId, turnId) : planById(state, confirmed)
}

/** The turn that events about a plan belong to. */
export const lastTurnOf = ({ id, turns }: Plan): string => turns.at(-1) ?? id

export const hasTasks = ({ counts: { removed: _removed, ...listed } }: Plan): boolean =>
  Object.values(listed).some(count => count > 0)

/** True if the plan never had a task. */
export const isUnplanned = (plan: Plan): boolean => !hasTasks(plan) && plan.counts.removed === 0 && !plan.is_taken

/** All tasks of a plan, in list order. Walks the whole list. */
export const tasksOf = ({ tasks }: Pick<Plans, 'tasks'>, { id }: Plan): Task[] =>
  [...valuesIn(tasks)].filter(({ plan_id }) => plan_id === id).sort(byPosition)

/** The tasks of a turn's plan that were planned in this turn or earlier, in list order. */
export function tasksAt(state: Plans, turnId: string): Task[] {
  const plan = planOf(state, turnId)
  const later = new Set(plan.turns.slice(plan.turns.indexOf(turnId) + 1))
  return tasksOf(state, plan).filter(task => !later.has(task.conversation_turn_id))
}

/** The turn of its plan that last worked on a task. */
export function turnOf(state: Plans, { plan_id, status, updated_at }: Task): string {
  const plan = planById(state, plan_id)
  const begun = (id: string): string => valueIn(state.turns, id)?.started_at ?? ''
  return (isOpen({ status }) ? undefined : plan.turns.findLast(id => begun(id) <= updated_at)) ?? lastTurnOf(plan)
}

export const openOf = (state: Pick<Plans, 'tasks'>, { open }: Plan): Task[] => some(state, open).sort(byPosition)

export const checkedOf = (state: Pick<Plans, 'tasks'>, { checked }: Plan): Task[] =>
  some(state, checked).sort(byPosition)

const some = ({ tasks }: Pick<Plans, 'tasks'>, ids: readonly string[]): Task[] =>
  ids.flatMap(id => valueIn(tasks, id) ?? [])

export function withTask(plan: Plan, before: Task | undefined, after: Task | undefined): Plan {
  const count = (task: Task | undefined, by: number, counts: PlanCounts): PlanCounts =>
    task ? { ...counts, [countedAs(task)]: counts[countedAs(task)] + by } : counts
  const isSame = before && after ? countedAs(before) === countedAs(after) : before === after
  const counts = isSame ? plan.counts : count(after, 1, count(before, -1, plan.counts))
  const open = listing(plan.open, before, after, isOpen)
  const checked = listing(plan.checked, before, after, ({ checks = [] }) => checks.length > 0)
  return counts === plan.counts && open === plan.open && checked === plan.checked
    ? plan
    : { ...plan, counts, open, checked }
}

export function listing(
  ids: readonly string[],
  before: Task | undefined,
  after: Task | undefined,
  isSo: (task: Task) => boolean,
): readonly string[] {
  const [was, is] = [before !== undefined && isSo(before), after !== undefined && isSo(after)]
  if (was === is) return ids
  const id = (after ?? before)?.id ?? ''
  return is ? [...ids, id] : ids.filter(other => other !== id)
}
