import { type Row, sameRow } from './review.ts'

/** What a revised plan changed, compared with the plan that was sent back. */
export interface Revision {
  /** For each of its rows: the row that it was before, and whether it differs; without one it is new. */
  readonly rows: readonly { readonly change: 'same' | 'edited' | 'new'; readonly from?: Row }[]
  /** The rows that it no longer has. */
  readonly removed: readonly Row[]
}

/** Rows are matched by equal title, then by position. */
export function revisionOf(before: readonly Row[], after: readonly Row[]): Revision {
  const left = new Set(before)
  const byTitle = after.map(row => {
    const from = before.find(each => left.has(each) && each.title === row.title)
    if (from) left.delete(from)
    return from
  })
  const rows = after.map((row, index) => {
    const there = before[index]
    const from = byTitle[index] ?? (there && left.delete(there) ? there : undefined)
    if (!from) return { change: 'new' as const }
    return { change: sameRow(from, row) ? ('same' as const) : ('edited' as const), from }
  })
  return { rows, removed: [...left] }
}
