import type { Sources } from '../command.ts'
import { invalidField, type Refusal } from '../refusal.ts'
import { LIMITS, line, Problem } from '../text.ts'

type CleanSources = { source_user_message_id?: string; source_assistant_message_id?: string }

/** The message ids that the host named, validated. */
export function sourcesOf(command: Sources): CleanSources | Refusal {
  const clean: CleanSources = {}
  for (const field of ['source_user_message_id', 'source_assistant_message_id'] as const) {
    const raw = command[field]
    if (raw === undefined) continue
    const value = line(raw, LIMITS.reference)
    if (value instanceof Problem) return invalidField(field, value.fact)
    clean[field] = value
  }
  return clean
}
