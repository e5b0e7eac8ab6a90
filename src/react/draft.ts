import type { DraftRow, ReviewRequest, RowStatus, SubmittedRow } from '../domain/review.ts'
import type { Priority } from '../domain/task.ts'

/** A row under a person's hands. Tags are one text while they are typed. */
export interface EditRow {
  readonly key: string
  readonly draft_index?: number
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly priority: Priority
  readonly status: RowStatus
  readonly tags: string
}

export const MOST_ROWS = 20

export interface Draft {
  readonly rows: readonly EditRow[]
  readonly comment: string
}

export function draftOf({ draft_tasks }: ReviewRequest): Draft {
  return {
    rows: draft_tasks.map((row, draft_index) => ({ ...editable(row), key: `d${draft_index}`, draft_index })),
    comment: '',
  }
}

/** A name for a row that is in no draft; it is never used again. */
const newKey = (): string => `n${Math.random().toString(36).slice(2)}`

export const emptyRow = (): EditRow => ({
  key: newKey(),
  title: '',
  details: '',
  criteria: '',
  priority: 'medium',
  status: 'todo',
  tags: '',
})

export const fromTemplate = (row: Omit<DraftRow, 'order'>): EditRow => ({ ...editable(row), key: newKey() })

/** What is submitted: every field as it stands, so that what is seen is what is written. */
export function submitted({ title, details, criteria, priority, status, tags, draft_index }: EditRow): SubmittedRow {
  const row = { title, details, criteria, priority, status, tags: tagsIn(tags) }
  return draft_index === undefined ? row : { ...row, draft_index }
}

export const tagsIn = (text: string): string[] =>
  text
    .split(/[,，]/)
    .map(tag => tag.trim())
    .filter(tag => tag !== '')

/** The first row without a title, counted from 1. */
export function rowWithoutTitle({ rows }: Draft): number | undefined {
  const place = rows.findIndex(({ title }) => title.trim() === '')
  return place < 0 ? undefined : place + 1
}

export function isChanged({ rows, comment }: Draft, review: ReviewRequest): boolean {
  const proposed = draftOf(review)
  return comment !== '' || JSON.stringify(rows.map(submitted)) !== JSON.stringify(proposed.rows.map(submitted))
}

/** Edits of one proposal, laid over another: a row is the one that had its title before it was edited. */
export function rebased(
  { rows, comment, of }: Draft & { readonly of: readonly string[] },
  { draft_tasks }: ReviewRequest,
): Draft {
  const taken = new Set<number>()
  const placeOf = (title: string | undefined): number =>
    draft_tasks.findIndex((row, place) => row.title === title && !taken.has(place))
  return {
    comment,
    rows: rows.map(({ draft_index, ...row }) => {
      const place = draft_index === undefined ? -1 : placeOf(of[draft_index])
      if (place < 0) return { ...row, key: newKey() }
      taken.add(place)
      return { ...row, key: `d${place}`, draft_index: place }
    }),
  }
}

export function moved<T>(rows: readonly T[], from: number, to: number): T[] {
  const row = rows[from]
  if (row === undefined || to < 0 || to >= rows.length) return [...rows]
  return rows.toSpliced(from, 1).toSpliced(to, 0, row)
}

function editable({ title, details, criteria, priority, status, tags }: Omit<DraftRow, 'order'>): Omit<EditRow, 'key'> {
  return { title, details, criteria, priority, status, tags: tags.join(', ') }
}
