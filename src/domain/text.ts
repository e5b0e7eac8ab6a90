export const LIMITS = {
  title: 400,
  text: 8_000,
  tags: 20,
  tag: 64,
  reference: 200,
  batch: 20,
  open: 1_000,
} as const

/** What is wrong with a value, in words that fit behind its name: "title must be …". */
export class Problem {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** One line: trimmed, control characters and line breaks as spaces, 1 to `limit` code points. */
export function line(raw: unknown, limit: number = LIMITS.title): string | Problem {
  const text = wellFormed(raw)
  if (text instanceof Problem) return text
  const clean = onOneLine(text)
  if (!isVisible(clean)) return new Problem('must not be empty')
  return within(clean, limit)
}

/** Several lines: line ends as \n, other control characters as spaces, up to 8,000 code points; may be empty. */
export function prose(raw: unknown): string | Problem {
  const text = wellFormed(raw)
  if (text instanceof Problem) return text
  const clean = text.replace(/\r\n?/g, '\n').replace(PROSE_CONTROLS, ' ')
  return within(clean.trim(), LIMITS.text)
}

export function tagList(raw: unknown): readonly string[] | Problem {
  if (!Array.isArray(raw)) return new Problem('must be an array of strings')
  const tags = new Set<string>()
  for (const [index, element] of raw.entries()) {
    const tag = line(element, LIMITS.tag)
    if (tag instanceof Problem) return new Problem(`element ${index} ${tag.message}`)
    tags.add(tag)
  }
  if (tags.size > LIMITS.tags) return new Problem(`must hold at most ${LIMITS.tags}, got ${tags.size}`)
  return [...tags]
}

/** Whether nothing would be left to see of a text once it is cleaned. */
export const isBlank = (text: string): boolean => !isVisible(onOneLine(text))

/** An id that may be part of a path or a URL: nothing in it can point elsewhere. */
export const isId = (raw: unknown): raw is string => typeof raw === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(raw)

/**
 * Control characters, and those that reorder the text around them: with these a title could show a person something
 * else than what it says.
 */
const LINE_CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const PROSE_CONTROLS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu

/** Most texts are plain: for them the tables of Unicode, which take milliseconds to build, need not be looked at. */
const PLAIN = /^[\x20-\x7e]*$/

const onOneLine = (text: string): string => (PLAIN.test(text) ? text : text.replace(LINE_CONTROLS, ' ')).trim()

/** Zero-width characters belong into words and emoji, but are nothing by themselves. */
const isVisible = (text: string): boolean =>
  PLAIN.test(text) ? text.trim() !== '' : /[^\s\p{Default_Ignorable_Code_Point}]/u.test(text)

function wellFormed(raw: unknown): string | Problem {
  if (typeof raw !== 'string') return new Problem(`must be a string, got ${kind(raw)}`)
  if (!raw.isWellFormed()) return new Problem('must be well-formed Unicode: it holds half of a surrogate pair')
  return raw
}

function within(text: string, limit: number): string | Problem {
  // Code points are never more than code units: most texts need no counting.
  if (text.length <= limit) return text
  let length = 0
  for (const _ of text) length += 1
  return length <= limit ? text : new Problem(`must be at most ${limit} characters, got ${length}`)
}

const kind = (raw: unknown): string => (raw === null ? 'null' : Array.isArray(raw) ? 'an array' : typeof raw)
