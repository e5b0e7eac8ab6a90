import type { Check } from '../../../core/proof/check.ts'
import type { SentCheck } from '../../../core/views/wire.ts'
import { type EditableRow, newKey } from './draft.ts'
import { type EditableCheck, isRunnable, newCheck, willRun } from './draft-checks.ts'

type Rows = readonly EditableRow[]

/** The checks of a review's rows and the edits a person can make to them. */
export interface ReviewChecks {
  /** True if checks can run: the plan has a workspace. */
  readonly areOffered: boolean
  /** The workspace's commands, offered as suggestions. */
  readonly commands: readonly string[]
  /** The checks of the whole plan, which run once before it ends. */
  readonly ofPlan: readonly Check[]
  /** The number of checks that run something. */
  readonly count: number
  /** The number of these that will run. */
  readonly approvedCount: number
  /** Counts a command line while it is typed, until it is added or empty. */
  readonly type: (rowKey: string, line: string) => void
  /** Adds a command line, which approves it. */
  readonly add: (rowKey: string, line: string, isHidden?: boolean) => void
  /** Changes a check's command, path or question, which approves it. */
  readonly edit: (rowKey: string, checkKey: string, text: string) => void
  readonly remove: (rowKey: string, checkKey: string) => void
  readonly approve: (rowKey: string, checkKey: string, isApproved: boolean) => void
}

export interface TypedCheck {
  readonly rowKey: string
  readonly line: string
}

interface DraftChecksOptions {
  readonly rows: Rows
  /** Pass `field` while a person types in it: undo then merges the keystrokes into one change. */
  readonly setRows: (change: (rows: Rows) => Rows, field?: string) => void
  readonly proposed: readonly SentCheck[]
  readonly areOffered: boolean
  readonly commands: readonly string[]
  readonly ofPlan: readonly Check[]
  readonly typed: TypedCheck | undefined
  readonly setTyped: (typed: TypedCheck | undefined) => void
  readonly onEdit: (rowKey: string) => void
}

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
    add: (rowKey, line, isHidden) => {
      if (line.trim() !== '') change(rowKey, before => [...before, newCheck(line, newKey(), proposed, isHidden)])
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

const withChecks =
  (change: (checks: Checks) => Checks, rowKey: string) =>
  (rows: Rows): Rows =>
    rows.map(row => (row.key === rowKey ? { ...row, checks: change(row.checks) } : row))
