import { Ban, ChevronRight, CircleCheck, Clock, type LucideIcon, Pencil, Replace } from 'lucide-react'
import { lazy, memo, type ReactElement, Suspense, useState } from 'react'
import type { PlanCard, PlanOutcome } from '../domain/plan-card.ts'
import { classNames } from './class-names.ts'
import { useThreadStrings } from './use-thread-strings.ts'

/** Loaded with the first card that is opened. */
const PlanDiff = lazy(() => import('./plan-diff.tsx'))

const ICONS: Record<PlanOutcome, LucideIcon> = {
  approved: CircleCheck,
  rejected: Ban,
  changes_requested: Pencil,
  timed_out: Clock,
  closed: Clock,
  stopped: Ban,
  superseded: Replace,
}

/** The props of `PlanDecision`. */
export interface PlanDecisionProps {
  readonly card: PlanCard
  readonly className?: string
}

/** A decided plan as a card: what the person decided, and opened, how that differs from the proposal. */
export const PlanDecision = memo(function PlanDecision({ card, className }: PlanDecisionProps): ReactElement {
  const { thread } = useThreadStrings()
  const [isOpen, setOpen] = useState(false)
  const { outcome, comment, steps, edited, added, removed, reordered, continued_by } = card
  const Icon = ICONS[outcome]
  const changes = [
    edited > 0 ? thread.edited(edited) : '',
    added > 0 ? thread.added(added) : '',
    removed > 0 ? thread.removed(removed) : '',
    reordered ? thread.reordered : '',
  ].filter(text => text !== '')
  return (
    <details
      className={classNames(`rs-decided rs-decided-${outcome}`, className)}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>
        <Icon size={16} aria-hidden="true" />
        <span className="rs-decided-text">
          <span className="rs-decided-what">
            {[outcome === 'approved' ? thread.approved(steps) : thread.decided[outcome], ...changes].join(' · ')}
          </span>{' '}
          {comment !== undefined && comment !== '' && <span className="rs-decided-note">{thread.quoted(comment)}</span>}{' '}
          {continued_by !== undefined && <span className="rs-decided-note">{thread.continuedLater}</span>}
        </span>
        <ChevronRight className="rs-chevron" size={16} aria-hidden="true" />
      </summary>
      {isOpen && (
        <Suspense>
          <PlanDiff card={card} />
        </Suspense>
      )}
    </details>
  )
})
