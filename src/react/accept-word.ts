import type { Task } from '../domain/task.ts'
import type { Strings } from './strings.ts'

/** What the button says that settles a task on the person's word: something stood against it, or it is done already. */
export function acceptWord({ status }: Task, hasComplaint: boolean, { checks, markDone }: Strings): string {
  if (status === 'completed') return checks.confirm
  return hasComplaint && status !== 'blocked' ? checks.acceptAnyway : markDone
}
