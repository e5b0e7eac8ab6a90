import type { Task } from '../domain/task.ts'
import type { Strings } from './strings.ts'

/** What the button says that settles a task on the person's word: it is done already, or something stands against it. */
export function acceptWord({ status }: Task, hasComplaint: boolean, { checks, markDone }: Strings): string {
  if (status === 'completed') return checks.confirm
  return hasComplaint ? checks.acceptAnyway : markDone
}
