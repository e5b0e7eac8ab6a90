import { Minus, Pencil, Plus } from 'lucide-react'
import { type ReactElement, useRef } from 'react'
import type { PlanCard, PlanRow } from '../../../core/views/plan-card.ts'
import { differentFields, type Row } from '../../../core/model/row.ts'
import { checkLabel } from '../tasks/check-text.ts'
import { fieldsOf, valueText } from '../draft/draft.ts'
import { ScrollCue } from '../parts/scroll-cue.tsx'
import type { Strings } from '../texts/strings.ts'
import { useRowsOutOfSight } from './use-rows-out-of-sight.ts'
import { useThreadStrings } from '../texts/use-thread-strings.ts'

export function PlanDiff({ card }: { readonly card: PlanCard }): ReactElement {
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

const ICONS = { edited: Pencil, added: Plus, removed: Minus } as const

function DiffRow({ row, comment }: { readonly row: PlanRow; readonly comment: string | undefined }): ReactElement {
  const strings = useThreadStrings()
  const { change, from, to, title } = row
  const isChanged = change !== 'kept' && change !== 'proposed'
  const Icon = isChanged ? ICONS[change] : undefined
  const changes = change === 'edited' && from && to ? changedFields(from, to, strings) : []
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

function changedFields(from: Row, to: Row, strings: Strings): readonly FieldChange[] {
  const [before, after] = [fieldsOf(from), fieldsOf(to)]
  return differentFields(from, to)
    .filter(name => name !== 'title')
    .map(name => ({
      label: strings.fields[name],
      before: valueText(before, name, strings),
      after: valueText(after, name, strings),
    }))
}
