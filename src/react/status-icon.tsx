import { Ban, Circle, CircleCheck, CircleDot, OctagonAlert } from 'lucide-react'
import type { ReactElement } from 'react'
import type { TaskStatus } from '../domain/task.ts'
import { useWords } from './words.ts'

const ICONS: Record<TaskStatus, typeof Circle> = {
  pending: Circle,
  in_progress: CircleDot,
  completed: CircleCheck,
  blocked: OctagonAlert,
  cancelled: Ban,
}

export function StatusIcon({ status }: { readonly status: TaskStatus }): ReactElement {
  const words = useWords()
  const Icon = ICONS[status]
  return (
    <span className={`rs-status rs-status-${status}`} role="img" aria-label={words.status[status]}>
      <Icon size={16} aria-hidden="true" />
    </span>
  )
}
