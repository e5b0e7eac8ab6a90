import type { Task } from '../domain/task.ts'
import type { Strings } from './strings.ts'

export function acceptWord({ status }: Task, hasComplaint: boolean, { checks, markDone }: Strings): string {
  if (status === 'completed') return checks.confirm
  return hasComplaint ? checks.acceptAnyway : markDone
}
