import { isId, LIMITS, line } from '../core/model/text.ts'

/** Converts a host's id to ours. Hosts do not know our id format, so an id that does not fit is hashed, not refused. */
export function hostId(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  return isId(raw) ? raw : `host-${hashed(raw)}`
}

/** Like `hostId`, for ids that are not used in paths. */
export function hostReference(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  return line(raw, LIMITS.reference) === raw ? raw : `host-${hashed(raw)}`
}

function hashed(text: string): string {
  // Lazy import: every module delays the hook, and most ids fit.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(text.toWellFormed()).digest('hex').slice(0, 32)
}
