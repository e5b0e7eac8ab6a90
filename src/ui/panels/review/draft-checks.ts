import type { DraftRow } from '../../../core/model/review.ts'
import type { SentCheck, SentChecks } from '../../../core/views/wire.ts'
import { textOf, withText, writtenCheck } from '../parts/text.ts'
import type { Check } from '../../../core/proof/check.ts'
import type { EditableRow } from './draft.ts'

/** A check of a row while it is edited. */
export interface EditableCheck {
  /** Stable while the check is edited. */
  readonly key: string
  /** The check as proposed or as in a template. A check that the person wrote has no hash. */
  readonly spec: SentCheck
  /** The text of its command, path or question. */
  readonly text: string
  /** The person approved it as proposed. */
  readonly isApproved: boolean
  /** The configuration allows it as proposed. */
  readonly isAllowed: boolean
}

export const editableChecks = ({ checks = [], allowed = [] }: Pick<DraftRow, 'checks' | 'allowed'>): EditableCheck[] =>
  checks.map(spec => ({
    key: spec.id,
    spec,
    text: textOf(spec),
    isApproved: false,
    isAllowed: allowed.includes(spec.hash),
  }))

/** Typing a command that the plan proposed anywhere approves that proposed check. */
export function newCheck(line: string, key: string, proposed: readonly SentCheck[], isHidden = false): EditableCheck {
  const text = line.trim()
  const same = proposed.find(each => !isHidden && each.kind === 'command' && isSameText(textOf(each), text))
  return { key, spec: same ?? writtenCheck(text, isHidden), text, isApproved: true, isAllowed: false }
}

/** True if the person wrote it. An edited proposal still needs approval. */
export const isOwn = ({ spec }: EditableCheck): boolean => spec.hash === undefined

export const isAllowedNow = (check: EditableCheck): boolean => check.isAllowed && !isEdited(check)

export const willRun = (check: EditableCheck): boolean => isOwn(check) || check.isApproved || isAllowedNow(check)

/** A person ticks the others. */
export const isRunnable = ({ spec }: EditableCheck): boolean => spec.kind !== 'person'

export function sentChecks(checks: readonly EditableCheck[]): Pick<SentChecks, 'checks' | 'approve'> {
  const approve = checks.flatMap(check => (!isEdited(check) && check.isApproved ? (check.spec.hash ?? []) : []))
  return { checks: checks.map(sentCheck), ...(approve.length > 0 ? { approve } : {}) }
}

/** A hash would mean that the check comes from elsewhere; without one, writing it approves it. */
function sentCheck(check: EditableCheck): SentCheck {
  if (!isOwn(check) && !isEdited(check)) return check.spec
  const written = withText(check.spec, check.text.trim())
  return willRun(check) ? written : { ...written, hash: `edited ${check.key}` }
}

const isEdited = ({ spec, text }: EditableCheck): boolean => !isSameText(textOf(spec), text)

/** Whitespace is insignificant unless quoted: quoted texts must be equal. */
const isSameText = (a: string, b: string): boolean => a === b || a === b.trim().replaceAll(/\s+/g, ' ')

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

export const newKey = (): string => `n${Math.random().toString(36).slice(2)}`
