import type { Json } from './event.ts'
import { exactReplacer, looseReplacer } from './secret-forms.ts'
import { isSecretField, REDACTED, withoutShapes } from './secret-shapes.ts'

/** The secrets of a composition. What is shorter than 8 characters is left alone: it would hit ordinary words. */
export interface Secrets {
  /** Removed wherever they appear: keys, tokens, passwords. */
  readonly known: readonly string[]
  /** Settings that may be secret or not. Removed from errors only: a tool's result may have to name them. */
  readonly suspected?: readonly string[]
}

/** Keeps secrets, and characters that a terminal obeys, out of what is stored, sent and printed. */
export interface Redactor {
  /** An error for people and models: without secrets or anything shaped like one, control characters escaped. */
  readonly error: (text: string) => string
  /** The same for printing: on one line, so that it cannot pass for several. */
  readonly line: (text: string) => string
  /** The same with the lines of a stack, indented, so that none passes for a line of its own. */
  readonly block: (text: string) => string
  /** A log entry: each text in it like an error. */
  readonly entry: (value: Json) => Json
  /**
   * What a tool answered, without our known secrets. All else stays: a hash, a token that it was asked to make or a file
   * with colour codes is what the model works with.
   */
  readonly content: (value: Json) => Json
  /**
   * What a tool says of itself: as `content`, with control characters escaped in texts for people. Others, such as the
   * values of an enum, are repeated exactly in calls.
   */
  readonly described: (value: Json) => Json
}

/** Longer errors keep their head and tail. */
const MAX_ERROR = 100_000
const MAX_WORD = 2_000
/** The fields of a tool and of a JSON schema that are for people. */
const PROSE: ReadonlySet<string> = new Set(['description', 'title', '$comment'])
/** The least number that is as long as a secret. */
const MIN_NUMBER = 10_000_000

/** The one redactor of a composition. Without secrets it still knows their shapes. */
export function redactor({ known, suspected = [] }: Secrets = { known: [] }): Redactor {
  const content = exactReplacer(known)
  const exact = exactReplacer([...known, ...suspected])
  const loose = looseReplacer(known, suspected)
  // Exact secrets go before a text is cut: half of one is not recognized.
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

/** Secrets that are learnt; the oldest gives way. */
const MAX_LEARNT = 50

/** A redactor that hears of further secrets while it is used. */
export interface LearningRedactor extends Redactor {
  readonly learn: (secrets: Secrets) => void
}

/** The redactor of a composition whose secrets may change. */
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

/** Escapes control characters, all but line ends and tabs, and those that change the direction of a text. */
const escaped = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROLS, each => `\\u${(each.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)

const CONTROLS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** A cut may leave half a secret behind, so the word at the cut goes with it. */
function bounded(text: string): string {
  if (text.length <= MAX_ERROR) return text
  const half = MAX_ERROR / 2 - MAX_WORD
  const head = text.slice(half, half + MAX_WORD).replace(/\S*$/, '')
  const tail = text.slice(-half - MAX_WORD, -half).replace(/^\S*/, '')
  return `${text.slice(0, half)}${head}…${tail}${text.slice(-half)}`
}

/** Each text replaced, names of fields and long numbers included. */
function mapped(value: Json, replace: (text: string, field: string) => string, field = ''): Json {
  if (typeof value === 'string') return replace(value, field)
  if (typeof value === 'number') return value < MIN_NUMBER || replace(`${value}`, '') === `${value}` ? value : REDACTED
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(each => mapped(each, replace, field))
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [replace(name, ''), mapped(each, replace, name)]),
  )
}
