import { isId, LIMITS, line } from '../domain/text.ts'

/** A host's id as one of ours. A host cannot know our form, so an id that does not fit is hashed, not refused. */
export function hostId(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  return isId(raw) ? raw : `host-${hashed(raw)}`
}

/** The same for an id that need not fit into a path. */
export function hostReference(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  return line(raw, LIMITS.reference) === raw ? raw : `host-${hashed(raw)}`
}

function hashed(text: string): string {
  // Loaded only here: a hook waits for each module, and most ids fit.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(text.toWellFormed()).digest('hex').slice(0, 32)
}
