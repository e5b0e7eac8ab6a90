import type { Check, CheckSpec } from '../domain/check.ts'
import type { DraftRow } from '../domain/review.ts'
import { BLANK, differentFields, fieldsIn, type Row } from '../domain/row.ts'
import type { SentRow } from '../domain/wire.ts'

export type MaybeProposed = CheckSpec & Partial<Pick<Check, 'id' | 'hash'>>

export interface PlanCheck {
  readonly check: MaybeProposed
  readonly isApproved: boolean
}

export interface PlanRow extends Omit<Required<Row>, 'checks'> {
  /** Absent if the person added the row. */
  readonly draft_index?: number
  readonly checks: readonly PlanCheck[]
}

/** Checks that the configuration allows anyway start unmarked. */
export const rowsOf = (draft: readonly DraftRow[]): PlanRow[] =>
  draft.map((row, draft_index) => {
    const { checks = [], allowed = [] } = row
    const marked = checks.map(check => ({ check, isApproved: !allowed.includes(check.hash) }))
    return { draft_index, ...BLANK, ...fieldsIn(row), checks: marked }
  })

/** Unedited rows are sent as proposed. */
export const sentRows = (rows: readonly PlanRow[], draft: readonly DraftRow[]): SentRow[] =>
  rows.map(row => {
    const { draft_index, checks, ...fields } = row
    const approve = checks.flatMap(({ check, isApproved }) =>
      isApproved && isRunnable(check) ? (check.hash ?? []) : [],
    )
    return {
      ...(isEdited(row, draft) ? { ...fields, checks: checks.map(({ check }) => check) } : {}),
      draft_index: draft_index ?? null,
      ...(approve.length > 0 ? { approve } : {}),
    }
  })

/** Ignores approval marks. */
export function isEdited(row: PlanRow, draft: readonly DraftRow[]): boolean {
  const proposed = draft[row.draft_index ?? -1]
  return !proposed || differentFields(proposed, { ...row, checks: row.checks.map(({ check }) => check) }).length > 0
}

export const isRunnable = ({ kind }: MaybeProposed): boolean => kind !== 'person'

/** Allowed checks run whatever their mark, unless deleted. */
export const isAllowed = (
  { hash }: MaybeProposed,
  row: Pick<PlanRow, 'draft_index'>,
  draft: readonly DraftRow[],
): boolean => hash !== undefined && (draft[row.draft_index ?? -1]?.allowed?.includes(hash) ?? false)
