import type { Check, CheckSpec } from '../domain/check.ts'
import type { DraftRow } from '../domain/review.ts'
import { BLANK, differentFields, fieldsIn, type Row } from '../domain/row.ts'
import type { SentRow } from '../domain/wire.ts'

/** A check, with its id and hash if it was proposed. */
export type MaybeProposed = CheckSpec & Partial<Pick<Check, 'id' | 'hash'>>

/** A check of a row, and whether the person lets it run. */
export interface PlanCheck {
  readonly check: MaybeProposed
  readonly isApproved: boolean
}

/** A row as a person edits it. */
export interface PlanRow extends Omit<Required<Row>, 'checks'> {
  /** Which of the proposed rows it is. Absent: the person added it. */
  readonly draft_index?: number
  readonly checks: readonly PlanCheck[]
}

/** The proposed rows. Their checks are marked, unless the configuration allows them anyway. */
export const rowsOf = (draft: readonly DraftRow[]): PlanRow[] =>
  draft.map((row, draft_index) => {
    const { checks = [], allowed = [] } = row
    const marked = checks.map(check => ({ check, isApproved: !allowed.includes(check.hash) }))
    return { draft_index, ...BLANK, ...fieldsIn(row), checks: marked }
  })

/** The rows as a decision sends them. An unedited row is sent as proposed. */
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

/** Whether a row says something else than its proposed one, whatever its marks. */
export function isEdited(row: PlanRow, draft: readonly DraftRow[]): boolean {
  const proposed = draft[row.draft_index ?? -1]
  return !proposed || differentFields(proposed, { ...row, checks: row.checks.map(({ check }) => check) }).length > 0
}

/** Whether a machine runs it. */
export const isRunnable = ({ kind }: MaybeProposed): boolean => kind !== 'person'

/** Whether the configuration allows it: then it runs whatever its mark says, unless it is deleted. */
export const isAllowed = (
  { hash }: MaybeProposed,
  row: Pick<PlanRow, 'draft_index'>,
  draft: readonly DraftRow[],
): boolean => hash !== undefined && (draft[row.draft_index ?? -1]?.allowed?.includes(hash) ?? false)
