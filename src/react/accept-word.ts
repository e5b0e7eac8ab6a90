import type { Task } from '../domain/task.ts'
import type { Strings } from './strings.ts'

/** The label of the button that accepts a task: it depends on whether the task is done or has a complaint. */
export function acceptWord({ status }: Task, hasComplaint: boolean, { checks, markDone }: Strings): string {
  if (status === 'completed') return checks.confirm
  return hasComplaint ? checks.acceptAnyway : markDone
}
