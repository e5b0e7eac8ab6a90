import { Ban, Circle, CircleCheck, CircleDot, OctagonAlert } from 'lucide-react'
import type { ReactElement } from 'react'
import type { TaskStatus } from '../domain/task.ts'
import { useStrings } from './strings.ts'

const ICONS: Record<TaskStatus, typeof Circle> = {
  pending: Circle,
  in_progress: CircleDot,
  completed: CircleCheck,
  blocked: OctagonAlert,
  cancelled: Ban,
}

/** The icon of a task status. */
export function StatusIcon({ status }: { readonly status: TaskStatus }): ReactElement {
  const strings = useStrings()
  const Icon = ICONS[status]
  return (
    <span className={`rs-status rs-status-${status}`} role="img" aria-label={strings.status[status]}>
      <Icon size={16} aria-hidden="true" />
    </span>
  )
}
