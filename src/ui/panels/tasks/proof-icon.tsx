import {
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  ListChecks,
  LoaderCircle,
  type LucideIcon,
  MessageCircle,
  Scale,
  ShieldCheck,
  TriangleAlert,
  UserCheck,
} from 'lucide-react'
import type { ReactElement } from 'react'
import type { TaskCheck } from './plan-proof.ts'
import type { RowMark } from '../review/row-mark.ts'

type Shown = RowMark['kind'] | TaskCheck['state'] | 'unapproved'

const ICONS: Record<Shown, LucideIcon> = {
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
  const Icon = ICONS[shown]
  return <Icon size={13} aria-hidden="true" className={`rs-proof-icon rs-proof-${shown}`} />
}
