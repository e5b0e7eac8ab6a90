import type { Task } from '../../../core/model/task.ts'
import type { Strings } from '../texts/strings.ts'

export function acceptWord({ status }: Task, hasComplaint: boolean, { checks, markDone }: Strings): string {
  if (status === 'completed') return checks.confirm
  return hasComplaint ? checks.acceptAnyway : markDone
}
