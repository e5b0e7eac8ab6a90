import { Ban, Circle, CircleCheck, CircleDot, LoaderCircle, OctagonAlert } from 'lucide-react'
import type { ReactElement } from 'react'
import type { TaskStatus } from '../../../core/model/task.ts'
import { useStrings } from '../texts/strings.ts'

const ICONS: Record<TaskStatus, typeof Circle> = {
  pending: Circle,
  in_progress: CircleDot,
  completed: CircleCheck,
  blocked: OctagonAlert,
  cancelled: Ban,
}

interface StatusIconProps {
  readonly status: TaskStatus
  /** The icon spins: an agent works on the task now. */
  readonly isRunning?: boolean
}

/** The icon of a task status. */
export function StatusIcon({ status, isRunning = false }: StatusIconProps): ReactElement {
  const strings = useStrings()
  const isTurning = isRunning && status === 'in_progress'
  const Icon = isTurning ? LoaderCircle : ICONS[status]
  return (
    <span
      className={`rs-status rs-status-${status}${isTurning ? ' rs-turning' : ''}`}
      role="img"
      aria-label={strings.status[status]}
    >
      <Icon size={16} aria-hidden="true" />
    </span>
  )
}
