import { withoutHidden } from '../text/hidden.ts'
import type { FieldProblem } from './refusal.ts'

export const LIMITS = {
  title: 400,
  /** The title of a conversation. */
  name: 120,
  text: 8_000,
  tags: 20,
  tag: 64,
  reference: 200,
  batch: 20,
  open: 1_000,
  /** Queued messages: their length and their number. */
  message: 32_000,
  queued: 20,
} as const

/** A problem with a value. `say` puts it into words. */
export class Problem {
  readonly fact: FieldProblem
  constructor(fact: FieldProblem) {
    this.fact = fact
  }
}

/**
 * Cleans one line: trimmed, control characters and line breaks become spaces, invisible ones are removed; 1 to `limit`
 * code points.
 */
export function line(raw: unknown, limit: number = LIMITS.title): string | Problem {
  const text = wellFormed(raw)
  if (text instanceof Problem) return text
  const clean = onOneLine(text)
  if (!isVisible(clean)) return new Problem({ rule: 'empty' })
  return within(clean, limit)
}

/**
 * Cleans several lines: line ends become \n, other control characters spaces, invisible ones are removed; up to 8,000
 * code points. Text without a visible character becomes empty.
 */
export function prose(raw: unknown): string | Problem {
  const text = wellFormed(raw)
  if (text instanceof Problem) return text
  const clean = withoutHidden(text.replace(/\r\n?/g, '\n').replace(PROSE_CONTROLS, ' ')).trim()
  return isVisible(clean) ? within(clean, LIMITS.text) : ''
}

/**
 * As `prose`, for a model's text that cannot be sent back for correction: repaired and truncated instead of refused.
 */
export function asProse(raw: string): string {
  const clean = prose(clip(raw.toWellFormed().trim(), LIMITS.text))
  return clean instanceof Problem ? '' : clean
}

/** A message as it was written, 1 to `limit` code points. */
export function messageText(raw: unknown, limit: number = LIMITS.message): string | Problem {
  const text = wellFormed(raw)
  if (text instanceof Problem) return text
  return isBlank(text) ? new Problem({ rule: 'empty' }) : within(text, limit)
}

export function tagList(raw: unknown): readonly string[] | Problem {
  if (!Array.isArray(raw)) return new Problem({ rule: 'not_an_array', got: kind(raw) })
  const tags = new Set<string>()
  for (const [index, element] of raw.entries()) {
    const tag = line(element, LIMITS.tag)
    if (tag instanceof Problem) return new Problem({ ...tag.fact, index })
    tags.add(tag)
  }
  if (tags.size > LIMITS.tags) return new Problem({ rule: 'too_many', limit: LIMITS.tags, got: tags.size })
  return [...tags]
}

/** True if a text has no visible character once it is cleaned. */
export const isBlank = (text: string): boolean => !isVisible(onOneLine(text))

/** Safe inside a path or a URL. */
export const ID_PATTERN = /^[A-Za-z0-9_-]{1,128}$/
export const isId = (raw: unknown): raw is string => typeof raw === 'string' && ID_PATTERN.test(raw)

/** Control characters, including bidirectional ones, which could make a title read differently from what it says. */
const LINE_CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const PROSE_CONTROLS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu

/** Fast path: building the Unicode tables of the other patterns takes milliseconds. */
const PLAIN = /^[\x20-\x7e]*$/

const onOneLine = (text: string): string =>
  (PLAIN.test(text) ? text : withoutHidden(text.replace(LINE_CONTROLS, ' '))).trim()

/**
 * A text needs a letter, number, punctuation mark or symbol with a glyph: marks and zero-width characters are invisible
 * on their own.
 */
const isVisible = (text: string): boolean => (PLAIN.test(text) ? text.trim() !== '' : VISIBLE.test(text))

/**
 * Excludes blank letters and symbols: fillers, the empty Braille pattern, the null notehead and the like. Includes lone
 * surrogates, which another rule refuses.
 */
const VISIBLE =
  /(?![\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}])[\p{L}\p{N}\p{P}\p{S}\p{Cs}]/u

function wellFormed(raw: unknown): string | Problem {
  if (typeof raw !== 'string') return new Problem({ rule: 'not_text', got: kind(raw) })
  if (!raw.isWellFormed()) return new Problem({ rule: 'malformed_unicode' })
  return raw
}

function within(text: string, limit: number): string | Problem {
  // Code points never outnumber code units, so most texts need no counting.
  if (text.length <= limit) return text
  let length = 0
  for (const _ of text) length += 1
  return length <= limit ? text : new Problem({ rule: 'too_long', limit, got: length })
}

export const kind = (raw: unknown): string => (raw === null ? 'null' : Array.isArray(raw) ? 'an array' : typeof raw)

export const clip = (text: string, limit: number): string => Array.from(text).slice(0, limit).join('')

export function cut(text: string, limit: number): string {
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
