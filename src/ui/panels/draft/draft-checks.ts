import type { DraftRow } from '../../../core/model/review.ts'
import type { SentCheck, SentChecks } from '../../../core/views/wire.ts'
import { textOf, withText, writtenCheck } from '../tasks/check-text.ts'

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
