import type { Json } from '../model/event.ts'
import { MIN_SECRET, REDACTED, isSecretField, withoutShapes } from './secret-shapes.ts'

/** The secrets of a server. Values under 8 characters are ignored, because they would match ordinary words. */
export interface Secrets {
  /** Removed wherever they appear: keys, tokens, passwords. */
  readonly known: readonly string[]
  /** Settings that may be secret. Removed from errors only, because a tool's result may have to name them. */
  readonly suspected?: readonly string[]
}

/** Keeps secrets and terminal control characters out of everything that is stored, sent or printed. */
export interface Redactor {
  /**
   * Cleans an error for people and models: removes known secrets and anything shaped like one, and escapes control
   * characters.
   */
  readonly error: (text: string) => string
  /** As `error`, on one line, so that it cannot pass for several log lines. */
  readonly line: (text: string) => string
  /** As `error`, with the indented lines of a stack, so that none passes for a log line of its own. */
  readonly block: (text: string) => string
  /** Cleans each text of a log entry as an error. */
  readonly entry: (value: Json) => Json
  /**
   * Removes our known secrets from a tool's answer. Everything else stays: the model works with hashes, with tokens
   * that it asked for, and with files that contain colour codes.
   */
  readonly content: (value: Json) => Json
  /**
   * As `content` for a tool's description, with control characters escaped in texts for people. Others, such as the
   * values of an enum, must be repeated exactly in calls.
   */
  readonly described: (value: Json) => Json
}

/** Longer errors keep their head and tail. */
const MAX_ERROR = 100_000
const MAX_WORD = 2_000
/** The fields of a tool and of a JSON schema that are for people. */
const PROSE: ReadonlySet<string> = new Set(['description', 'title', '$comment'])
/** The smallest number that is as long as a secret. */
const MIN_NUMBER = 10_000_000

/** The one redactor of a server. Without secrets it still knows their shapes. */
export function redactor({ known, suspected = [] }: Secrets = { known: [] }): Redactor {
  const content = exactReplacer(known)
  const exact = exactReplacer([...known, ...suspected])
  const loose = looseReplacer(known, suspected)
  // Known secrets are replaced before the cut: half of one would not be recognized.
  const cut = (text: string): string => (text.length > MAX_ERROR ? bounded(exact(text)) : text)
  const error = (text: string): string => escaped(withoutShapes(loose(cut(text))))
  return {
    error,
    line: text => error(text).trim().replaceAll('\n', '\\n'),
    block: text => error(text).trim().replaceAll('\n', '\n    '),
    entry: value => mapped(value, (text, field) => (isSecretField(field, text) ? REDACTED : error(text))),
    content: value => mapped(value, content),
    described: value => mapped(value, (text, field) => (PROSE.has(field) ? escaped(content(text)) : content(text))),
  }
}

/** Learnt secrets kept; the oldest is dropped first. */
const MAX_LEARNT = 50

export interface LearningRedactor extends Redactor {
  readonly learn: (secrets: Secrets) => void
}

export function learningRedactor({ known, suspected = [] }: Secrets): LearningRedactor {
  let learnt: { readonly known: readonly string[]; readonly suspected: readonly string[] } = {
    known: [],
    suspected: [],
  }
  let current = redactor({ known, suspected })
  const added = (to: readonly string[], more: readonly string[]): readonly string[] =>
    [...new Set([...to, ...more])].slice(-MAX_LEARNT)
  return {
    error: text => current.error(text),
    line: text => current.line(text),
    block: text => current.block(text),
    entry: value => current.entry(value),
    content: value => current.content(value),
    described: value => current.described(value),
    learn: more => {
      learnt = { known: added(learnt.known, more.known), suspected: added(learnt.suspected, more.suspected ?? []) }
      current = redactor({ known: [...known, ...learnt.known], suspected: [...suspected, ...learnt.suspected] })
    },
  }
}

/** Escapes control characters except line ends and tabs, and characters that change the direction of a text. */
const escaped = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROLS, each => `\\u${(each.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)

const CONTROLS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** A cut may leave half a secret behind, so the word at the cut is dropped. */
function bounded(text: string): string {
  if (text.length <= MAX_ERROR) return text
  const half = MAX_ERROR / 2 - MAX_WORD
  const head = text.slice(half, half + MAX_WORD).replace(/\S*$/, '')
  const tail = text.slice(-half - MAX_WORD, -half).replace(/^\S*/, '')
  return `${text.slice(0, half)}${head}…${tail}${text.slice(-half)}`
}

function mapped(value: Json, replace: (text: string, field: string) => string, field = ''): Json {
  if (typeof value === 'string') return replace(value, field)
  if (typeof value === 'number') return value < MIN_NUMBER || replace(`${value}`, '') === `${value}` ? value : REDACTED
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(each => mapped(each, replace, field))
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [replace(name, ''), mapped(each, replace, name)]),
  )
}

/**
 * Replaces exact values, also as written in a URL, in JSON or in HTML. The longest goes first, because one may contain
 * another.
 */
export function exactReplacer(secrets: readonly string[]): (text: string) => string {
  const sorted = longestFirst(secrets.filter(isLong).flatMap(writtenForms))
  const shortest = sorted.at(-1)?.length ?? Number.POSITIVE_INFINITY
  return text => {
    if (text.length < shortest) return text
    let clean = text
    for (const form of sorted) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED)
    return clean
  }
}

/**
 * Replaces values in any case and common encoding: as written, in a URL, in JSON or HTML, nested in these once, in base64
 * or as hex digits. `known` words also when a line end breaks them, or by 16 characters of their beginning or end.
 */
export function looseReplacer(known: readonly string[], suspected: readonly string[]): (text: string) => string {
  const secrets = [...known, ...suspected].filter(isLong)
  if (secrets.length === 0) return text => text
  const wholes = secrets.flatMap(secret => [...writtenForms(secret).flatMap(nested), ...encodings(secret)])
  const words = known.filter(secret => secret.length > LONG_PART && isOneWord(secret))
  const patterns = [
    ...longestFirst(wholes).map(literally),
    ...words.map(word => Array.from(word, literally).join(String.raw`(?:[\r\n]\s*)?`)),
    ...words.map(word => `${literally(word.slice(0, LONG_PART))}[\\w.~+/=*…-]{0,500}`),
    ...words.map(word => literally(word.slice(-LONG_PART))),
  ]
  const pattern = new RegExp(patterns.join('|'), 'gi')
  return text => text.replaceAll(pattern, REDACTED)
}

/** Characters of a secret that count as a secret themselves. */
const LONG_PART = 16

const isLong = (secret: string): boolean => secret.length >= MIN_SECRET

/** A part of an address or a sentence gives nothing away. */
const isOneWord = (secret: string): boolean => !/\s|:\/\//.test(secret)

const longestFirst = (forms: readonly string[]): readonly string[] =>
  [...new Set(forms)].toSorted((a, b) => b.length - a.length)

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

const nested = (form: string): readonly string[] => [form, encodeURIComponent(form), JSON.stringify(form).slice(1, -1)]

function writtenForms(secret: string): readonly string[] {
  const inUrl = encodeURIComponent(secret.toWellFormed())
  const inJson = JSON.stringify(secret).slice(1, -1)
  const inHtml = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
  return [
    secret,
    inUrl,
    inUrl.replaceAll(/%../g, each => each.toLowerCase()),
    inUrl.replaceAll('%20', '+'),
    inJson,
    inJson.replaceAll('/', '\\/'),
    inHtml,
    inHtml.replaceAll("'", '&#39;'),
  ]
}

/** Base64 at each of the three byte offsets, and hex digits. */
function encodings(secret: string): readonly string[] {
  const bytes = [...new TextEncoder().encode(secret)]
  const binary = bytes.map(byte => String.fromCharCode(byte)).join('')
  const inBase64 = [0, 1, 2].map(shift =>
    btoa('\0'.repeat(shift) + binary).slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6)),
  )
  const inBase64Url = inBase64.map(each => each.replaceAll('+', '-').replaceAll('/', '_'))
  return [...inBase64, ...inBase64Url, bytes.map(byte => byte.toString(16).padStart(2, '0')).join('')]
}
