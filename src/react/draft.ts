import type { Resolution } from '../domain/event.ts'
import type { ConfirmedTask, DraftRow, ReviewRequest } from '../domain/review.ts'
import { differentFields, FIELD_NAMES, FIELDS, type Row, type RowField } from '../domain/row.ts'
import { decidedRows, outOfOrder } from '../domain/revision.ts'
import { LIMITS } from '../domain/text.ts'
import type { SentRow } from '../domain/wire.ts'
import { kindLabel, splitList, withText } from './check-text.ts'
import { type EditableCheck, editableChecks, sentChecks } from './draft-checks.ts'
import type { Strings } from './strings.ts'

export const MAX_ROWS = LIMITS.batch

type EditableFields = {
  readonly [K in Exclude<RowField, 'checks'>]-?: Required<Row>[K] extends readonly string[] ? string : Required<Row>[K]
}
/** A row as it is edited. Tags and globs are one text each, separated by commas. */
export interface EditableRow extends EditableFields {
  /** Stays the same while the row is edited and moved. */
  readonly key: string
  /** The proposed row that it was made from; absent for an added one. */
  readonly draft_index?: number
  readonly checks: readonly EditableCheck[]
  /** What the person says about a proposed row. About a row of their own there is nobody to tell. */
  readonly comment: string
}
/** The fields of a row that a person edits. */
export type RowFields = Omit<EditableRow, 'key' | 'draft_index'>

export interface Draft {
  readonly rows: readonly EditableRow[]
  readonly comment: string
}

/** A draft with the titles of the proposal that it was made from. */
export interface SavedDraft extends Draft {
  readonly proposed: readonly string[]
}

export function draftOf({ draft_tasks }: ReviewRequest): Draft {
  return { rows: draft_tasks.map(editableRow), comment: '' }
}

/** A row of the proposal; undefined where there is none. */
export function proposedRow({ draft_tasks }: ReviewRequest, index = -1): EditableRow | undefined {
  const row = draft_tasks[index]
  return row && editableRow(row, index)
}

/** A proposed row to edit. */
export const editableRow = (row: Omit<DraftRow, 'order'>, draft_index: number): EditableRow => ({
  ...fieldsOf(row),
  key: `d${draft_index}`,
  draft_index,
})

/** A row that is not in the proposal, with a key that no other row has. */
export const newRow = (fields: Partial<RowFields> = {}): EditableRow => ({ ...EMPTY, ...fields, key: newKey() })

/** The editable fields of a proposed row or of a template's. */
export function fieldsOf(row: Partial<DraftRow>): RowFields {
  const fields = FIELD_NAMES.map(name => [
    name,
    isList(name) ? (row[name] ?? []).join(', ') : (row[name] ?? FIELDS[name].blank),
  ])
  return { ...(Object.fromEntries(fields) as EditableFields), checks: editableChecks(row), comment: '' }
}

/** A row as it is sent: every field, so that what was seen is what is written. */
export function submittedRow(row: EditableRow): SentRow {
  const fields = FIELD_NAMES.map(name => [name, isList(name) ? splitList(row[name]) : row[name]])
  return { ...Object.fromEntries(fields), ...sentChecks(row.checks), draft_index: row.draft_index ?? null }
}

/** Whether a field is edited as one text, separated by commas. */
export const isList = (name: RowField): name is 'tags' | 'may_change' =>
  FIELDS[name].kind === 'list' || FIELDS[name].kind === 'globs'

/** A row without anything. */
export const EMPTY = /* @__PURE__ */ fieldsOf({})

/** The rows with one of them as and where it was proposed, or all as they were. What was said about a row stays. */
export function asProposed(rows: readonly EditableRow[], review: ReviewRequest, key?: string): readonly EditableRow[] {
  const proposed = draftOf(review).rows.map(row => {
    const { comment = '' } = rows.find(({ draft_index }) => draft_index === row.draft_index) ?? {}
    return { ...row, comment }
  })
  if (key === undefined) return proposed
  const at = rows.findIndex(row => row.key === key)
  const reset = proposed[rows[at]?.draft_index ?? -1]
  if (!reset) return rows
  return movedRows(rows).has(at) ? inPlace(rows.toSpliced(at, 1), reset) : rows.with(at, reset)
}

/** The rows with one that was removed, as and where it was proposed. */
export function restored(rows: readonly EditableRow[], review: ReviewRequest, index: number): readonly EditableRow[] {
  const row = proposedRow(review, index)
  return row ? inPlace(rows, row) : rows
}

/** The places of the rows that a person moved. */
export const movedRows = (rows: readonly EditableRow[]): ReadonlySet<number> =>
  outOfOrder(rows.map(({ draft_index }) => draft_index))

/** The index of each proposed row that is gone, and the place at which it would stand. */
export const removedRows = (
  rows: readonly EditableRow[],
  { draft_tasks }: ReviewRequest,
): readonly { readonly index: number; readonly title: string; readonly place: number }[] =>
  draft_tasks.flatMap(({ title }, index) =>
    rows.some(({ draft_index }) => draft_index === index) ? [] : { index, title, place: placeOf(rows, index) },
  )

const inPlace = (rows: readonly EditableRow[], row: EditableRow): readonly EditableRow[] =>
  rows.toSpliced(placeOf(rows, row.draft_index), 0, row)

/** Behind the last row that was proposed before it and not moved. */
function placeOf(rows: readonly EditableRow[], index = 0): number {
  const moved = movedRows(rows)
  return rows.findLastIndex(({ draft_index = index }, at) => draft_index < index && !moved.has(at)) + 1
}

/** The number of the first row without a title, counted from 1. */
export function firstUntitled(rows: readonly EditableRow[]): number | undefined {
  const index = rows.findIndex(({ title }) => title.trim() === '')
  return index < 0 ? undefined : index + 1
}

/** The rows with a comment. */
export const commentedRows = (rows: readonly EditableRow[]): readonly Required<EditableRow>[] =>
  rows.flatMap(row => (hasComment(row) ? [row] : []))

const hasComment = (row: EditableRow): row is Required<EditableRow> =>
  row.draft_index !== undefined && row.comment.trim() !== ''

/** What the person did to a row. To approve its checks is not to edit it. */
export function rowChange(row: EditableRow, review: ReviewRequest): ConfirmedTask['change'] {
  const proposed = proposedRow(review, row.draft_index)
  if (!proposed) return 'added'
  return changedFields(proposed, row).length === 0 ? 'kept' : 'edited'
}

/** How much the rows differ from the proposal. */
export interface DraftTally {
  readonly edited: number
  readonly added: number
  readonly removed: number
  readonly isReordered: boolean
}

export function draftTally(rows: readonly EditableRow[], review: ReviewRequest): DraftTally {
  const changes = rows.map(row => rowChange(row, review))
  const order = rows.flatMap(({ draft_index }) => draft_index ?? [])
  return {
    edited: changes.filter(change => change === 'edited').length,
    added: changes.filter(change => change === 'added').length,
    removed: review.draft_tasks.length - order.length,
    isReordered: order.some((index, place) => index < (order[place - 1] ?? index)),
  }
}

/** The fields in which two rows differ, as they would be sent. */
export const changedFields = (before: EditableRow, after: EditableRow): readonly RowField[] =>
  differentFields(submittedRow(before), submittedRow(after))

/** Whether a row says nothing. */
export const isBlank = (row: EditableRow): boolean =>
  FIELD_NAMES.every(name => FIELDS[name].kind === 'choice' || row[name].length === 0)

export const isEdited = (draft: Draft, review: ReviewRequest): boolean =>
  draft.comment !== '' || commentedRows(draft.rows).length > 0 || areRowsEdited(draft, review)

export const areRowsEdited = ({ rows }: Draft, review: ReviewRequest): boolean =>
  sent(rows) !== sent(draftOf(review).rows)

/** Rows as they would be sent, to be compared. */
const sent = (rows: readonly EditableRow[]): string => JSON.stringify(rows.map(submittedRow))

/** The rows that a person sent a plan back with; undefined where they sent none. */
export function sentDraft({ draft_tasks }: ReviewRequest, sent: Resolution | undefined): SavedDraft | undefined {
  if (!sent?.rows) return undefined
  const hashes = new Set(draft_tasks.flatMap(({ checks = [] }) => checks.map(({ hash }) => hash)))
  // One that nobody proposed is the person's.
  const ownCheck = (check: EditableCheck): EditableCheck =>
    hashes.has(check.spec.hash ?? '') ? check : { ...check, spec: withText(check.spec, check.text) }
  const rows = decidedRows(sent).map(({ to, draft_index = -1 }): EditableRow => {
    const { allowed = [] } = draft_tasks[draft_index] ?? {}
    const { checks, ...fields } = fieldsOf({ ...to, allowed })
    const row = { ...fields, checks: checks.map(ownCheck) }
    return draft_index < 0 ? newRow(row) : { ...row, key: `d${draft_index}`, draft_index }
  })
  return { rows, comment: '', proposed: draft_tasks.map(({ title }) => title) }
}

/** Applies the edits of one proposal to the next one: rows are matched by the title that was proposed, then by their own. */
export function rebaseDraft({ rows, comment, proposed }: SavedDraft, { draft_tasks }: ReviewRequest): Draft {
  const matched = new Set<number>()
  const indexOf = (title: string | undefined): number =>
    draft_tasks.findIndex((row, index) => row.title === title && !matched.has(index))
  return {
    comment,
    rows: rows.map(({ draft_index, ...row }) => {
      const before = draft_index === undefined ? -1 : indexOf(proposed[draft_index])
      const index = before < 0 ? indexOf(row.title) : before
      if (index < 0) return { ...row, key: newKey() }
      matched.add(index)
      return { ...row, key: `d${index}`, draft_index: index }
    }),
  }
}

/** A draft as text: its rows by number, each with what was filled in, and the comment. */
export function draftText({ rows, comment }: Draft, strings: Strings): string {
  const lines = rows.map((row, index) => [`${index + 1}. ${row.title}`, ...filledFields(row, strings)].join('\n   '))
  return [...lines, ...(comment === '' ? [] : ['', comment])].join('\n')
}

/** The fields of a row besides its title that differ from an empty row's, each as a line. */
export function filledFields(row: EditableRow, strings: Strings): string[] {
  const lines = FIELD_NAMES.flatMap(name => {
    if (name === 'title' || row[name] === EMPTY[name]) return []
    if (name === 'checks') return row.checks.map(({ spec, text }) => `${kindLabel(spec, strings)}: ${text}`)
    const text = valueText(row, name, strings)
    return name === 'details' ? text : `${strings.fields[name]}: ${text}`
  })
  return row.comment === '' ? lines : [...lines, `${strings.rowComment}: ${row.comment}`]
}

/** The value of a field in words. */
export function valueText(row: RowFields, name: RowField, strings: Strings): string {
  if (name === 'checks') return row.checks.map(({ text }) => text).join(' · ')
  return choicesOf(name, strings)?.[row[name]] ?? row[name]
}

/** The words for the values of a choice. */
export const choicesOf = (
  name: RowField,
  { priority, rowStatus: status }: Strings,
): Readonly<Record<string, string>> | undefined => ({ priority, status })[name as 'priority' | 'status']

/** A key that no other row or check has. */
export const newKey = (): string => `n${Math.random().toString(36).slice(2)}`
