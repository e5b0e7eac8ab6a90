import type { Resolution } from '../../../core/model/event.ts'
import type { ConfirmedTask, DraftRow, ReviewRequest, RowComment } from '../../../core/model/review.ts'
import { FIELDS, FIELD_NAMES, differentFields, type Row, type RowField } from '../../../core/model/row.ts'
import { decidedRows, outOfOrder, sentBackRows } from '../../../core/views/plan-card.ts'
import { LIMITS } from '../../../core/model/text.ts'
import type { SentRow } from '../../../core/views/wire.ts'
import { kindLabel, splitList, withText } from '../parts/text.ts'
import { editableChecks, newKey, sentChecks, type EditableCheck } from './draft-checks.ts'
import type { Strings } from '../texts/strings.ts'

export const MAX_ROWS = LIMITS.batch

type EditableFields = {
  readonly [K in Exclude<RowField, 'checks'>]-?: Required<Row>[K] extends readonly string[] ? string : Required<Row>[K]
}
/** A row while it is edited. Tags and globs are one comma-separated text each. */
export interface EditableRow extends EditableFields {
  /** Stable while the row is edited and moved. */
  readonly key: string
  /** The index of the proposed row that it came from; absent for an added row. */
  readonly draft_index?: number
  readonly checks: readonly EditableCheck[]
  /** Globs that the model proposes beyond its scope; they count once they are in it. */
  readonly asks?: readonly string[]
  /** The person's comment on a proposed row. Added rows have none. */
  readonly comment: string
}
/** The fields of a row that a person can edit. */
export type RowFields = Omit<EditableRow, 'key' | 'draft_index'>

export interface Draft {
  readonly rows: readonly EditableRow[]
  readonly comment: string
}

/** Includes the proposed titles: rebasing matches rows by them. */
export interface SavedDraft extends Draft {
  readonly proposed: readonly string[]
}

export function draftOf({ draft_tasks }: ReviewRequest): Draft {
  return { rows: draft_tasks.map(editableRow), comment: '' }
}

export function proposedRow({ draft_tasks }: ReviewRequest, index = -1): EditableRow | undefined {
  const row = draft_tasks[index]
  return row && editableRow(row, index)
}

export const editableRow = (row: Omit<DraftRow, 'order'>, draft_index: number): EditableRow => ({
  ...fieldsOf(row),
  key: `d${draft_index}`,
  draft_index,
  ...(row.asks_scope ? { asks: row.asks_scope } : {}),
})

export const newRow = (fields: Partial<RowFields> = {}): EditableRow => ({ ...EMPTY, ...fields, key: newKey() })

export function fieldsOf(row: Partial<DraftRow>): RowFields {
  const fields = FIELD_NAMES.map(name => [
    name,
    isList(name) ? (row[name] ?? []).join(', ') : (row[name] ?? FIELDS[name].blank),
  ])
  return { ...(Object.fromEntries(fields) as EditableFields), checks: editableChecks(row), comment: '' }
}

/** Sends every field, so that exactly what the person saw is stored. */
export function submittedRow(row: EditableRow): SentRow {
  const fields = FIELD_NAMES.map(name => [name, isList(name) ? splitList(row[name]) : row[name]])
  return { ...Object.fromEntries(fields), ...sentChecks(row.checks), draft_index: row.draft_index ?? null }
}

export const isList = (name: RowField): name is 'tags' | 'scope' =>
  FIELDS[name].kind === 'list' || FIELDS[name].kind === 'globs'

export const EMPTY = /* @__PURE__ */ fieldsOf({})

/** Resets one row to its proposed content and place, or all rows. Comments stay. */
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

/** Brings a removed row back to its proposed place. */
export function restored(rows: readonly EditableRow[], review: ReviewRequest, index: number): readonly EditableRow[] {
  const row = proposedRow(review, index)
  return row ? inPlace(rows, row) : rows
}

export const movedRows = (rows: readonly EditableRow[]): ReadonlySet<number> =>
  outOfOrder(rows.map(({ draft_index }) => draft_index))

/** Each removed proposed row with the place where it would stand. */
export const removedRows = (
  rows: readonly EditableRow[],
  { draft_tasks }: ReviewRequest,
): readonly { readonly index: number; readonly title: string; readonly place: number }[] =>
  draft_tasks.flatMap(({ title }, index) =>
    rows.some(({ draft_index }) => draft_index === index) ? [] : { index, title, place: placeOf(rows, index) },
  )

const inPlace = (rows: readonly EditableRow[], row: EditableRow): readonly EditableRow[] =>
  rows.toSpliced(placeOf(rows, row.draft_index), 0, row)

/** Right after the last unmoved row that was proposed before it. */
function placeOf(rows: readonly EditableRow[], index = 0): number {
  const moved = movedRows(rows)
  return rows.findLastIndex(({ draft_index = index }, at) => draft_index < index && !moved.has(at)) + 1
}

export function firstUntitled(rows: readonly EditableRow[]): number | undefined {
  const index = rows.findIndex(({ title }) => title.trim() === '')
  return index < 0 ? undefined : index + 1
}

export const commentedRows = (rows: readonly EditableRow[]): readonly Required<EditableRow>[] =>
  rows.flatMap(row => (hasComment(row) ? [row] : []))

const hasComment = (row: EditableRow): row is Required<EditableRow> =>
  row.draft_index !== undefined && row.comment.trim() !== ''

/** Approving a row's checks does not count as editing the row. */
export function rowChange(row: EditableRow, review: ReviewRequest): ConfirmedTask['change'] {
  const proposed = proposedRow(review, row.draft_index)
  if (!proposed) return 'added'
  return changedFields(proposed, row).length === 0 ? 'kept' : 'edited'
}

/** The number of differences between the rows and the proposal, by kind. */
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

export const changedFields = (before: EditableRow, after: EditableRow): readonly RowField[] =>
  differentFields(submittedRow(before), submittedRow(after))

export const isBlank = (row: EditableRow): boolean =>
  FIELD_NAMES.every(name => FIELDS[name].kind === 'choice' || row[name].length === 0)

export const isEdited = (draft: Draft, review: ReviewRequest): boolean =>
  draft.comment !== '' || commentedRows(draft.rows).length > 0 || areRowsEdited(draft, review)

export const areRowsEdited = ({ rows }: Draft, review: ReviewRequest): boolean =>
  sent(rows) !== sent(draftOf(review).rows)

const sent = (rows: readonly EditableRow[]): string => JSON.stringify(rows.map(submittedRow))

/** Undefined if the person sent no rows. */
export function sentDraft({ draft_tasks }: ReviewRequest, sent: Resolution | undefined): SavedDraft | undefined {
  if (!sent?.rows) return undefined
  const hashes = new Set(draft_tasks.flatMap(({ checks = [] }) => checks.map(({ hash }) => hash)))
  // A check that was not proposed was written by the person.
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

/** Applies the edits of one proposal to the next. Rows match by proposed title first, then by current title. */
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

export function draftText({ rows, comment }: Draft, strings: Strings): string {
  const lines = rows.map((row, index) => [`${index + 1}. ${row.title}`, ...filledFields(row, strings)].join('\n   '))
  return [...lines, ...(comment === '' ? [] : ['', comment])].join('\n')
}

export function filledFields(row: EditableRow, strings: Strings): string[] {
  const lines = FIELD_NAMES.flatMap(name => {
    if (name === 'title' || row[name] === EMPTY[name]) return []
    if (name === 'checks') return row.checks.map(({ spec, text }) => `${kindLabel(spec, strings)}: ${text}`)
    const text = valueText(row, name, strings)
    return name === 'details' ? text : `${strings.fields[name]}: ${text}`
  })
  return row.comment === '' ? lines : [...lines, `${strings.rowComment}: ${row.comment}`]
}

export function valueText(row: RowFields, name: RowField, strings: Strings): string {
  if (name === 'checks') return row.checks.map(({ text }) => text).join(' · ')
  return choicesOf(name, strings)?.[row[name]] ?? row[name]
}

export const choicesOf = (
  name: RowField,
  { priority, rowStatus: status }: Strings,
): Readonly<Record<string, string>> | undefined => ({ priority, status })[name as 'priority' | 'status']

/** True if the decision includes everything in the draft, so that no edit is lost. */
export function isAsDecided(
  { rows, comment }: Draft,
  review: ReviewRequest,
  resolution: Resolution | undefined,
): boolean {
  if (!resolution) return false
  const isSentBack = resolution.reason === 'changes_requested'
  if (resolution.action !== 'confirm' && !isSentBack) return false
  const decided: readonly Row[] = sentBackRows(review.draft_tasks, resolution)
  // A plan sent back for changes omits rows without a title.
  const sent = isSentBack ? rows.filter(({ title }) => title.trim() !== '') : rows
  return (
    isEqual(sent.map(comparable), decided.map(fieldsOf).map(comparable)) &&
    isEqual(saidOf(commentedRows(rows)), saidOf(resolution.row_comments ?? [])) &&
    (comment.trim() === '' || clean(comment) === clean(resolution.comment ?? ''))
  )
}

/** The server trims what a person typed, so both sides are normalised. */
const comparable = (row: RowFields): unknown =>
  FIELD_NAMES.map(name => {
    if (name === 'checks') return row.checks.map(({ text }) => clean(text))
    return isList(name) ? [...new Set(splitList(row[name]).map(clean))] : clean(row[name])
  })

const saidOf = (comments: readonly RowComment[]): unknown =>
  comments.map(each => [each.draft_index, clean(each.comment)]).toSorted(([a], [b]) => Number(a) - Number(b))

const clean = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Unchanged if an index is out of range. */
export function moveItem<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const item = items[from]
  if (item === undefined || to < 0 || to >= items.length) return items
  return items.toSpliced(from, 1).toSpliced(to, 0, item)
}
