import { Ban, ChevronRight, CircleCheck, Clock, type LucideIcon, Minus, Pencil, Plus, Replace } from 'lucide-react'
import { memo, type ReactElement, useRef, useState } from 'react'
import { Button, classNames } from '../parts/controls.tsx'
import type { PlanCard, PlanRow } from '../../../core/views/plan-card.ts'
import type { PlanOutcome } from '../../../core/model/review-action.ts'
import type { Reopening } from '../review/outcome.ts'
import { useThreadStrings } from '../texts/use-thread-strings.ts'
import { differentFields, type Row } from '../../../core/model/row.ts'
import { checkLabel } from '../parts/text.ts'
import { fieldsOf, valueText } from '../review/draft.ts'
import { ScrollCue, useRowsOutOfSight } from '../parts/menu.tsx'
import type { Strings } from '../texts/strings.ts'

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
      <Button aria-disabled={reopening.isBusy} onClick={() => void reopening.reopen()}>
        {reopen}
      </Button>
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

function PlanDiff({ card }: { readonly card: PlanCard }): ReactElement {
  const list = useRef<HTMLOListElement>(null)
  const { above, below } = useRowsOutOfSight(list, '.rs-diff-row')
  return (
    <>
      {/* A scrollable list must be reachable by keyboard. */}
      <ol className="rs-diff" ref={list} tabIndex={above + below > 0 ? 0 : undefined}>
        {card.rows.map((row, index) => (
          <DiffRow key={index} row={row} comment={commentOn(card, row)} />
        ))}
      </ol>
      <div className="rs-diff-foot">
        <ScrollCue where="above" count={above} of={list} />
        <ScrollCue where="below" count={below} of={list} />
      </div>
    </>
  )
}

const DIFF_ICONS = { edited: Pencil, added: Plus, removed: Minus } as const

function DiffRow({ row, comment }: { readonly row: PlanRow; readonly comment: string | undefined }): ReactElement {
  const strings = useThreadStrings()
  const { change, from, to, title } = row
  const isChanged = change !== 'kept' && change !== 'proposed'
  const Icon = isChanged ? DIFF_ICONS[change] : undefined
  const changes = change === 'edited' && from && to ? fieldChanges(from, to, strings) : []
  return (
    <li className={`rs-diff-row rs-diff-${change}`}>
      <span className="rs-diff-mark">{Icon && <Icon size={13} aria-hidden="true" />}</span>
      <div>
        {isChanged && <span className="rs-sr">{strings.thread.about(strings.thread.row[change], '')}</span>}
        {/* `dir="auto"` ignores descendants that set their own direction, so the title decides. */}
        <div dir="auto">
          {change === 'edited' && from && from.title !== title && (
            <>
              <del dir="auto">{from.title}</del>{' '}
            </>
          )}
          {change === 'removed' ? <del>{title}</del> : <span className="rs-diff-title">{title}</span>}
        </div>
        {changes.map(({ label, before, after }) => (
          <small key={label}>
            {strings.thread.about(label, '')}
            {before !== '' && <del dir="auto">{before}</del>} {after !== '' && <ins dir="auto">{after}</ins>}
          </small>
        ))}
        {row.unapproved?.map(check => (
          <small key={check.id}>
            <bdi className="rs-code">{checkLabel(check, strings)}</bdi> · {strings.thread.notApproved}
          </small>
        ))}
        {comment !== undefined && (
          <small className="rs-diff-comment" dir="auto">
            {strings.thread.quoted(comment)}
          </small>
        )}
      </div>
    </li>
  )
}

const commentOn = ({ row_comments }: PlanCard, { draft_index }: PlanRow): string | undefined =>
  row_comments.find(each => each.draft_index === draft_index)?.comment

interface FieldChange {
  readonly label: string
  readonly before: string
  readonly after: string
}

function fieldChanges(from: Row, to: Row, strings: Strings): readonly FieldChange[] {
  const [before, after] = [fieldsOf(from), fieldsOf(to)]
  return differentFields(from, to)
    .filter(name => name !== 'title')
    .map(name => ({
      label: strings.fields[name],
      before: valueText(before, name, strings),
      after: valueText(after, name, strings),
    }))
}
