import { clip } from '../../domain/text.ts'

/** A text, or the empty one for anything else. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An object, or the empty one for anything else. */
export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** As much of a message or comment as the demo model reads: some of its regular expressions are quadratic. */
export const readable = (text: string): string => clip(text, 4_000)
