import type { Check } from '../proof/check.ts'
import type { Instant } from '../model/instant.ts'
import { isApproved, type Proofs } from '../proof/proof.ts'
import type { Resolution } from '../model/event.ts'
import { OUTCOMES, type CancelReason, type PlanOutcome } from '../model/review-action.ts'
import { sameRow, type Changes, type RowChange, type RowComment } from '../model/review.ts'
import type { Row } from '../model/row.ts'
import { valueIn } from '../model/table.ts'
import type { MarkOf } from './thread-log.ts'
import { longestIncreasing } from '../decide/transition.ts'

/** A row of a decided plan. */
export interface PlanRow {
  /** The person's change to it; `proposed`: none, because the plan was not approved. */
  readonly change: 'kept' | 'edited' | 'added' | 'removed' | 'proposed'
  readonly title: string
  /** The proposed row, if it was edited or removed. */
  readonly from?: Row
  /** The row as decided. */
  readonly to?: Row
  /** The index of its row in the proposal; absent for an added one. */
  readonly draft_index?: number
  readonly task_id?: string
  /** Its checks that were not approved, then or since; they never run. */
  readonly unapproved?: readonly Check[]
}

/** A decided plan: the proposal and the person's changes to it. */
export interface PlanCard {
  readonly review_id: string
  readonly outcome: PlanOutcome
  readonly asked_at: Instant
  readonly decided_at: Instant
  /** The number of approved steps; in a plan that was not approved, of proposed ones. */
  readonly steps: number
  readonly edited: number
  readonly added: number
  readonly removed: number
  readonly reordered: boolean
  readonly comment: string | undefined
  readonly row_comments: readonly RowComment[]
  /** The number of checks in its rows that were not approved, then or since. */
  readonly unapproved: number
  /** In the order of the decision; removed rows are where they were proposed. */
  readonly rows: readonly PlanRow[]
  /** The turn that continues a reopened plan. */
  readonly continued_by: string | undefined
}

/** The card of a decided review; undefined while it is pending. */
export function planCard(
  { review_id, proposed, asked_at, decided_at }: MarkOf<'plan'>,
  resolution: Resolution | undefined,
  state: Pick<Proofs, 'tasks' | 'proof'>,
): PlanCard | undefined {
  if (decided_at === undefined || !resolution) return undefined
  const { changes, comment, row_comments = [], continued_by } = resolution
  const outcome = outcomeOf(resolution)
  const rows = changes
    ? rowsOf(changes, resolution, proposed.length).map(row => withUnapproved(state, row))
    : proposed.map(asProposed)
  return {
    review_id,
    outcome,
    asked_at,
    decided_at,
    steps: outcome === 'approved' ? resolution.created_count : proposed.length,
    edited: changes?.edited.length ?? 0,
    added: changes?.added.length ?? 0,
    removed: changes?.removed.length ?? 0,
    reordered: changes?.reordered ?? false,
    comment,
    row_comments,
    unapproved: rows.reduce((sum, row) => sum + (row.unapproved?.length ?? 0), 0),
    rows,
    continued_by,
  }
}

/** A reason in the person's own words is none of our reasons. */
function outcomeOf({ action, reason = '' }: Resolution): PlanOutcome {
  if (action === 'confirm') return 'approved'
  return Object.hasOwn(OUTCOMES, reason) ? OUTCOMES[reason as CancelReason] : 'rejected'
}

/** Only for rows whose task still exists: no other row's checks could run. */
function withUnapproved(state: Pick<Proofs, 'tasks' | 'proof'>, row: PlanRow): PlanRow {
  const { task_id = '', to } = row
  const checks = valueIn(state.tasks, task_id) ? (to?.checks ?? []) : []
  const unapproved = checks.filter(each => !isApproved(state, task_id, each))
  return unapproved.length === 0 ? row : { ...row, unapproved }
}

const asProposed = (title: string, draft_index: number): PlanRow => ({ change: 'proposed', title, draft_index })

function rowsOf(changes: Changes, resolution: Resolution, count: number): readonly PlanRow[] {
  const rows = decidedRows(resolution).map((row): PlanRow => ({ ...row, title: row.to.title }))
  const removed = changes.removed.map((from): PlanRow => ({ change: 'removed', title: from.title, from }))
  const used = new Set(rows.map(({ draft_index }) => draft_index))
  const unused = Array.from({ length: count }, (_, index) => index).filter(index => !used.has(index))
  return removed.reduce<readonly PlanRow[]>(
    (all, row, index) => insertedAt(all, { ...row, draft_index: unused[index] ?? 0 }),
    rows,
  )
}

function insertedAt(rows: readonly PlanRow[], row: PlanRow & { readonly draft_index: number }): readonly PlanRow[] {
  const place = rows.findLastIndex(({ draft_index }) => draft_index !== undefined && draft_index < row.draft_index)
  return rows.toSpliced(place + 1, 0, row)
}

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
