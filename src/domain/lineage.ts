import { type Keyed, valueIn, valuesIn } from './table.ts'
import { byPosition, type Task } from './task.ts'
import type { Turn } from './turn.ts'

/** What these functions read: a state or its snapshot. */
export interface Plans {
  readonly tasks: Keyed<Task>
  readonly turns: Keyed<Turn>
  readonly adopted: Keyed<string>
}

/** The turn whose plan a task belongs to: the one that adopted it last, else the one that created it. */
export const planTurnOf = ({ adopted }: Pick<Plans, 'adopted'>, task: Task): string =>
  valueIn(adopted, task.id) ?? task.conversation_turn_id

/** A turn, those that it continues or whose open tasks it adopted, and so on: together they work on one plan. */
export function lineage({ turns }: Pick<Plans, 'turns'>, turnId: string): readonly string[] {
  const found = new Set([turnId])
  // Grows while it is read. Two turns may have adopted from each other.
  for (const id of found) {
    const { continues = id, adopts = [] } = valueIn(turns, id) ?? {}
    for (const earlier of [continues, ...adopts]) found.add(earlier)
  }
  return [...found]
}

/** Whether a task and a turn work on one plan, whichever came first. */
export const isSamePlan = (state: Pick<Plans, 'turns' | 'adopted'>, task: Task, turnId: string): boolean =>
  lineage(state, task.conversation_turn_id).includes(turnId) ||
  lineage(state, planTurnOf(state, task)).includes(turnId) ||
  lineage(state, turnId).includes(task.conversation_turn_id)

/** Whether two turns work on one plan, whichever came first. */
export const isSameLineage = (state: Pick<Plans, 'turns'>, a: string, b: string): boolean =>
  lineage(state, a).includes(b) || lineage(state, b).includes(a)

/** The tasks that a turn worked from, in list order: also those that a later turn has taken over since. */
export function planHistory(state: Plans, turnId: string): Task[] {
  const turns = new Set(lineage(state, turnId))
  return [...valuesIn(state.tasks)]
    .filter(task => turns.has(planTurnOf(state, task)) || turns.has(task.conversation_turn_id))
    .sort(byPosition)
}

/** The tasks of a turn's plan and of those that it goes on from, in list order, without what a later turn has taken over. */
export function wholePlan(state: Plans, turnId: string): Task[] {
  const turns = new Set(lineage(state, turnId))
  return [...valuesIn(state.tasks)].filter(task => turns.has(planTurnOf(state, task))).sort(byPosition)
}

/** The open tasks of a turn's whole plan, in list order. */
export function openInPlan(state: Plans & { readonly open: readonly string[] }, turnId: string): Task[] {
  const turns = new Set(lineage(state, turnId))
  return state.open
    .flatMap(id => valueIn(state.tasks, id) ?? [])
    .filter(task => turns.has(planTurnOf(state, task)) || turns.has(task.conversation_turn_id))
    .sort(byPosition)
}

/** The turn that says where a plan's checks run: the newest of them that has a workspace. */
export function homeOf({ turns }: Pick<Plans, 'turns'>, turnId: string): Turn | undefined {
  const own = valueIn(turns, turnId)
  if (own?.workspace) return own
  return lineage({ turns }, turnId)
    .flatMap(id => valueIn(turns, id) ?? [])
    .find(({ workspace }) => workspace)
}
