import type { Check } from '../domain/check.ts'
import type { SentCheck } from '../domain/wire.ts'
import { type EditableRow, newKey } from './draft.ts'
import { type EditableCheck, isRunnable, newCheck, willRun } from './draft-checks.ts'

type Rows = readonly EditableRow[]

/** The checks of a review's rows, and what a person can do with them. */
export interface ReviewChecks {
  /** Whether checks can run: the plan has a workspace. */
  readonly areOffered: boolean
  /** Commands of the workspace, to pick from. */
  readonly commands: readonly string[]
  /** The checks of the whole plan, which run once before it ends. */
  readonly ofPlan: readonly Check[]
  /** How many there are that run something. */
  readonly count: number
  /** How many of them will run. */
  readonly approvedCount: number
  /** Counts a command line that is being typed, until it is added or empty. */
  readonly type: (rowKey: string, line: string) => void
  /** Adds a command line, which approves it. */
  readonly add: (rowKey: string, line: string) => void
  /** Changes what a check runs, reads or asks, which approves it. */
  readonly edit: (rowKey: string, checkKey: string, text: string) => void
  readonly remove: (rowKey: string, checkKey: string) => void
  readonly approve: (rowKey: string, checkKey: string, isApproved: boolean) => void
}

/** A command line that is not added yet. */
export interface TypedCheck {
  readonly rowKey: string
  readonly line: string
}

interface DraftChecksOptions {
  readonly rows: Rows
  /** `field` is given while a person types in it. */
  readonly setRows: (change: (rows: Rows) => Rows, field?: string) => void
  /** The checks that were proposed, of all rows. */
  readonly proposed: readonly SentCheck[]
  readonly areOffered: boolean
  readonly commands: readonly string[]
  readonly ofPlan: readonly Check[]
  /** The command line that is being typed in a row. */
  readonly typed: TypedCheck | undefined
  readonly setTyped: (typed: TypedCheck | undefined) => void
  /** A check of a row is about to change. */
  readonly onEdit: (rowKey: string) => void
}

/** Edits of the checks of a draft. */
export function draftChecks(options: DraftChecksOptions): ReviewChecks {
  const { rows, setRows, proposed, areOffered, commands, ofPlan, typed, setTyped, onEdit } = options
  const runnable = rows.flatMap(({ checks }) => checks).filter(isRunnable)
  const typing = rows.some(({ key }) => key === typed?.rowKey) ? 1 : 0
  const change = (rowKey: string, checks: (before: Checks) => Checks, field?: string): void => {
    onEdit(rowKey)
    setRows(withChecks(checks, rowKey), field)
  }
  return {
    areOffered,
    commands,
    ofPlan,
    count: runnable.length + typing,
    approvedCount: runnable.filter(willRun).length + typing,
    type: (rowKey, line) => setTyped(line.trim() === '' ? undefined : { rowKey, line }),
    add: (rowKey, line) => {
      if (line.trim() !== '') change(rowKey, before => [...before, newCheck(line, newKey(), proposed)])
    },
    edit: (rowKey, checkKey, text) =>
      change(
        rowKey,
        before => before.map(check => (check.key === checkKey ? { ...check, text } : check)),
        `${rowKey} ${checkKey}`,
      ),
    remove: (rowKey, checkKey) => change(rowKey, before => before.filter(({ key }) => key !== checkKey)),
    approve: (rowKey, checkKey, isApproved) =>
      change(rowKey, before => before.map(check => (check.key === checkKey ? { ...check, isApproved } : check))),
  }
}

type Checks = readonly EditableCheck[]

/** The rows, one of them with other checks. */
const withChecks =
  (change: (checks: Checks) => Checks, rowKey: string) =>
  (rows: Rows): Rows =>
    rows.map(row => (row.key === rowKey ? { ...row, checks: change(row.checks) } : row))
