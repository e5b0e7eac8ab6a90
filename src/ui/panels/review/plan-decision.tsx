import { Ban, ChevronRight, CircleCheck, Clock, type LucideIcon, Pencil, Replace } from 'lucide-react'
import { memo, type ReactElement, useState } from 'react'
import type { PlanCard } from '../../../core/views/plan-card.ts'
import type { PlanOutcome } from '../../../core/model/review-action.ts'
import { classNames } from '../parts/class-names.ts'
import { PlanDiff } from './plan-diff.tsx'
import type { Reopening } from './use-review-outcome.ts'
import { useThreadStrings } from '../texts/use-thread-strings.ts'

const ICONS: { readonly [K in PlanOutcome]?: LucideIcon } = {
  approved: CircleCheck,
  changes_requested: Pencil,
  timed_out: Clock,
  closed: Clock,
  superseded: Replace,
}

/** The props of `PlanDecision`. */
export interface PlanDecisionProps {
  readonly card: PlanCard
  /** Reopens the plan if possible: `reopening` of `useReview`. */
  readonly reopening?: Pick<Reopening, 'reopen' | 'isBusy' | 'error'> | undefined
  readonly className?: string
}

/** A decided plan as a card: the decision and, expanded, the differences from the proposal. */
export const PlanDecision = memo(function PlanDecision(props: PlanDecisionProps): ReactElement {
  const { card, reopening, className } = props
  const { thread, checks, reopen } = useThreadStrings()
  const [isOpen, setOpen] = useState(false)
  const { outcome, comment, steps, edited, added, removed, reordered, row_comments, unapproved, continued_by } = card
  const Icon = ICONS[outcome] ?? Ban
  const changes = [
    edited > 0 ? thread.edited(edited) : '',
    added > 0 ? thread.added(added) : '',
    removed > 0 ? thread.removed(removed) : '',
    reordered ? thread.reordered : '',
    row_comments.length > 0 ? thread.comments(row_comments.length) : '',
    unapproved > 0 ? checks.notApproved(unapproved) : '',
  ].filter(text => text !== '')
  const shown = (
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
      {isOpen && <PlanDiff card={card} />}
    </details>
  )
  if (!reopening) return shown
  return (
    <div className="rs-reopenable">
      {shown}
      <button
        type="button"
        className="rs-button"
        aria-disabled={reopening.isBusy}
        onClick={() => void reopening.reopen()}
      >
        {reopen}
      </button>
      {reopening.error !== undefined && (
        <p className="rs-problem" role="alert">
          {reopening.error}
        </p>
      )}
    </div>
  )
})

/** The props of `PlanContinued`. */
export interface PlanContinuedProps {
  /** `decided` of the thread's message. */
  readonly outcome: 'approved' | 'changes_requested'
}

/** Marks the start of a turn that the decision on a reopened plan started without a message. */
export function PlanContinued({ outcome }: PlanContinuedProps): ReactElement {
  const { thread } = useThreadStrings()
  return <p className="rs-line rs-continued">{thread.continued[outcome]}</p>
}
