import { longestIncreasing } from '../decide/position.ts'
import type { Resolution } from '../model/event.ts'
import { type RowChange, sameRow } from '../model/review.ts'
import type { Row } from '../model/row.ts'

/** The changes of a revised plan compared with the plan that was sent back. */
export interface Revision {
  /** For each of its rows: the row that it was before, and if it differs or moved; without one it is new. */
  readonly rows: readonly {
    readonly change: 'same' | 'edited' | 'new'
    readonly from?: Row
    readonly moved?: true
  }[]
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
  const matched = after.map((row, index) => {
    const there = before[index]
    const from = byTitle[index] ?? (there && left.delete(there) ? there : undefined)
    return { row, from }
  })
  const moved = outOfOrder(matched.map(({ from }) => from && before.indexOf(from)))
  const rows = matched.map(({ row, from }, index) => {
    if (!from) return { change: 'new' as const }
    const change = sameRow(from, row) ? ('same' as const) : ('edited' as const)
    return { change, from, ...(moved.has(index) ? { moved: true as const } : {}) }
  })
  return { rows, removed: [...left] }
}

export const isUnchanged = ({ rows, removed }: Revision): boolean =>
  removed.length === 0 && rows.every(({ change, moved }) => change === 'same' && !moved)

/** The smallest set of indexes whose numbers are out of order. Undefined entries are skipped. */
export function outOfOrder(numbers: readonly (number | undefined)[]): ReadonlySet<number> {
  const places = [...numbers.keys()].filter(place => numbers[place] !== undefined)
  const kept = longestIncreasing(places.map(place => numbers[place] ?? 0))
  return new Set(places.filter((_, index) => !kept.has(index)))
}

/** A row that a person made of a draft. */
export interface DecidedRow extends RowChange {
  /** The proposed row, if it was edited. */
  readonly from?: Row
  readonly to: Row
  readonly task_id?: string
}

/** The rows that a person approved, or sent a plan back with, in their order. */
export function decidedRows({ changes, tasks = [], rows = tasks }: Decided): readonly DecidedRow[] {
  if (!changes) return []
  const kept = changes.kept.map((to): DecidedRow => ({ change: 'kept', to }))
  const edited = changes.edited.map((each): DecidedRow => ({ change: 'edited', ...each }))
  const added = changes.added.map((to): DecidedRow => ({ change: 'added', to }))
  const left = { kept: kept.values(), edited: edited.values(), added: added.values() }
  return rows.flatMap(row => {
    const { value } = left[row.change].next()
    return value ? [{ ...value, ...row }] : []
  })
}

type Decided = Pick<Resolution, 'changes' | 'tasks' | 'rows'>

/** A plan as the person sent it back: with their edits, else as proposed. */
export const sentBackRows = (draft: readonly Row[], resolution: Decided = {}): readonly Row[] =>
  resolution.changes ? decidedRows(resolution).map(({ to }) => to) : draft
