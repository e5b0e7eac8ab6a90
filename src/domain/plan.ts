import type { Check, Workspace } from './check.ts'
import type { PlanRuns, RunReason } from './proof.ts'
import { type Keyed, valueIn, valuesIn } from './table.ts'
import { byPosition, isOpen, type Task } from './task.ts'
import { COUNTED, type PlanCounts, type Turn } from './turn.ts'

/** What one or more turns work on together. */
export interface Plan {
  /** The turn that began it. */
  readonly id: string
  /** The turns that worked on it, oldest first. What happens to it outside of a turn belongs to the last one. */
  readonly turns: readonly string[]
  /** The ids of its open tasks. */
  readonly open: readonly string[]
  /** Its listed tasks by how they stand, and how many were removed. */
  readonly counts: PlanCounts
  /** How many of the removed tasks a model removed. */
  readonly dropped: number
  /** The ids of its tasks that have checks. */
  readonly checked: readonly string[]
  /** Where its checks run: the workspace of its newest turn that has one. */
  readonly workspace?: Workspace
  /** The checks of the plan itself, which run before it ends. */
  readonly done_checks?: readonly Check[]
  /** Hash to the runs of its own checks. */
  readonly runs?: Readonly<Record<string, PlanRuns>>
  /** How often its checks were run again since the newest claim, turn or follow-up. */
  readonly passes: number
  /** The seq of the newest claim on one of its tasks. */
  readonly claimed?: number
  /** The seq at which it went on in another workspace. */
  readonly moved?: number
  /** The seq of its newest record of guarded files. */
  readonly baseline?: number
  /** The workspace as the newest run saw it. */
  readonly looked?: {
    readonly turn_id: string
    readonly seq: number
    readonly why: RunReason
    readonly fingerprint?: string
  }
  /** Its open tasks went to another plan. */
  readonly is_taken?: true
}

/** What these functions read: a state or its snapshot. */
export interface Plans {
  readonly tasks: Keyed<Task>
  readonly turns: Keyed<Turn>
  readonly plans: Keyed<Plan>
}

const NO_COUNTS: PlanCounts = { completed: 0, blocked: 0, cancelled: 0, removed: 0, open: 0 }

export const newPlan = (id: string): Plan => ({
  id,
  turns: [id],
  open: [],
  counts: NO_COUNTS,
  dropped: 0,
  checked: [],
  passes: 0,
})

/** The id of the plan that a turn works on. */
export const planIdOf = ({ turns }: Pick<Plans, 'turns'>, turnId: string): string =>
  valueIn(turns, turnId)?.plan_id ?? turnId

/** The plan that a turn works on. */
export const planOf = (state: Pick<Plans, 'turns' | 'plans'>, turnId: string): Plan =>
  planById(state, planIdOf(state, turnId))

/** A plan by its id, or as it is before anything happened to it. */
export const planById = ({ plans }: Pick<Plans, 'plans'>, planId: string): Plan =>
  valueIn(plans, planId) ?? newPlan(planId)

/** The plan that a run is about: that of its task, else the one that its turn works on. */
export function planOfRun(state: Plans, taskId: string | undefined, turnId: string): Plan {
  const task = taskId === undefined ? undefined : valueIn(state.tasks, taskId)
  return task ? planById(state, task.plan_id) : planOf(state, turnId)
}

/** The turn that an event about a plan belongs to. */
export const lastTurnOf = ({ id, turns }: Plan): string => turns.at(-1) ?? id

/** Whether a plan has a listed task. */
export const hasTasks = ({ counts: { completed, blocked, cancelled, open } }: Plan): boolean =>
  completed + blocked + cancelled + open > 0

/** Whether nothing was ever planned in it. */
export const isUnplanned = (plan: Plan): boolean => !hasTasks(plan) && plan.counts.removed === 0 && !plan.is_taken

/** All tasks of a plan, in list order. Walks the whole list. */
export const tasksOf = ({ tasks }: Pick<Plans, 'tasks'>, { id }: Plan): Task[] =>
  [...valuesIn(tasks)].filter(({ plan_id }) => plan_id === id).sort(byPosition)

/** The tasks of a turn's plan that were planned in it or before it, in list order. */
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

/** The open tasks of a plan, in list order. */
export const openOf = (state: Pick<Plans, 'tasks'>, { open }: Plan): Task[] => some(state, open).sort(byPosition)

/** The tasks of a plan that have checks. */
export const checkedOf = (state: Pick<Plans, 'tasks'>, { checked }: Plan): Task[] =>
  some(state, checked).sort(byPosition)

const some = ({ tasks }: Pick<Plans, 'tasks'>, ids: readonly string[]): Task[] =>
  ids.flatMap(id => valueIn(tasks, id) ?? [])

/** A plan after one of its tasks was listed, changed or left the list. */
export function withTask(plan: Plan, before: Task | undefined, after: Task | undefined): Plan {
  const count = (task: Task | undefined, by: number, counts: PlanCounts): PlanCounts =>
    task ? { ...counts, [COUNTED[task.status]]: counts[COUNTED[task.status]] + by } : counts
  const counts = before?.status === after?.status ? plan.counts : count(after, 1, count(before, -1, plan.counts))
  const open = listing(plan.open, before, after, isOpen)
  const checked = listing(plan.checked, before, after, ({ checks = [] }) => checks.length > 0)
  return counts === plan.counts && open === plan.open && checked === plan.checked
    ? plan
    : { ...plan, counts, open, checked }
}

/** The ids of the tasks that are so, after one changed. */
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
