import type { DraftRow } from '../domain/review.ts'
import type { SentCheck, SentChecks } from '../domain/wire.ts'
import { textOf, withText } from './check-text.ts'

/** A check of a row as it is edited. */
export interface EditableCheck {
  /** Stays the same while the check is edited. */
  readonly key: string
  /** As it was proposed, or as a template has it. One that the person writes has no hash. */
  readonly spec: SentCheck
  /** What it runs, reads or asks. */
  readonly text: string
  /** The person approves it as it was proposed. */
  readonly isApproved: boolean
  /** The configuration allows it as it was proposed. */
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

/** A command that the person writes. One that was proposed anywhere in the plan is that one, and approved. */
export function newCheck(line: string, key: string, proposed: readonly SentCheck[]): EditableCheck {
  const text = line.trim()
  const same = proposed.find(each => each.kind === 'command' && isSameText(textOf(each), text))
  return { key, spec: same ?? { kind: 'command', run: text }, text, isApproved: true, isAllowed: false }
}

/** Whether the person wrote it. One that was proposed and edited is still to be approved. */
export const isOwn = ({ spec }: EditableCheck): boolean => spec.hash === undefined

/** Whether the configuration allows it as it is now. */
export const isAllowedNow = (check: EditableCheck): boolean => check.isAllowed && !isEdited(check)

/** Whether it will run: the person wrote or approved it, or the configuration allows it. */
export const willRun = (check: EditableCheck): boolean => isOwn(check) || check.isApproved || isAllowedNow(check)

/** Whether it runs at all; a person only looks. */
export const isRunnable = ({ spec }: EditableCheck): boolean => spec.kind !== 'person'

/** The checks of a row as they are sent. */
export function sentChecks(checks: readonly EditableCheck[]): Pick<SentChecks, 'checks' | 'approve'> {
  const approve = checks.flatMap(check => (!isEdited(check) && check.isApproved ? (check.spec.hash ?? []) : []))
  return { checks: checks.map(sentCheck), ...(approve.length > 0 ? { approve } : {}) }
}

/** What a person writes anew is approved by that; a hash of its own says that it comes from elsewhere. */
function sentCheck(check: EditableCheck): SentCheck {
  if (!isOwn(check) && !isEdited(check)) return check.spec
  const written = withText(check.spec, check.text.trim())
  return willRun(check) ? written : { ...written, hash: `edited ${check.key}` }
}

/** Whether it is no longer what was proposed. */
const isEdited = ({ spec, text }: EditableCheck): boolean => !isSameText(textOf(spec), text)

/** Spaces say nothing, unless they are quoted: then the texts are equal. */
const isSameText = (a: string, b: string): boolean => a === b || a === b.trim().replaceAll(/\s+/g, ' ')
