import {
  Ban,
  Circle,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleSlash,
  CircleX,
  ListChecks,
  LoaderCircle,
  type LucideIcon,
  MessageCircle,
  OctagonAlert,
  Scale,
  ShieldCheck,
  TriangleAlert,
  UserCheck,
} from 'lucide-react'
import type { ReactElement } from 'react'
import type { TaskCheck } from '../plan/proof.ts'
import type { RowMark } from '../plan/row-mark.ts'
import type { TaskStatus } from '../../../core/model/task.ts'
import { useStrings } from '../texts/strings.ts'

type Shown = RowMark['kind'] | TaskCheck['state'] | 'unapproved'

const PROOF_ICONS: Record<Shown, LucideIcon> = {
  proven: ShieldCheck,
  confirmed: UserCheck,
  judged: Scale,
  reported: MessageCircle,
  checks: ListChecks,
  checking: LoaderCircle,
  running: LoaderCircle,
  unticked: UserCheck,
  waiting: CircleDashed,
  unapproved: CircleSlash,
  queued: CircleDashed,
  passed: CircleCheck,
  stale: CircleCheck,
  failed: CircleX,
  inconclusive: TriangleAlert,
  changed: TriangleAlert,
  rejected: CircleX,
}

export function ProofIcon({ of: shown }: { readonly of: Shown }): ReactElement {
  const Icon = PROOF_ICONS[shown]
  return <Icon size={13} aria-hidden="true" className={`rs-proof-icon rs-proof-${shown}`} />
}

const STATUS_ICONS: Record<TaskStatus, typeof Circle> = {
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
  const Icon = isTurning ? LoaderCircle : STATUS_ICONS[status]
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
