import type { Json } from './event.ts'

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
}

const REDACTED = '[redacted]'
const MIN_SECRET = 8
/** Longer errors keep their head and tail. */
const MAX_ERROR = 100_000
const MAX_WORD = 2_000

/** The one redactor of a composition. Without secrets it still knows their shapes. */
export function redactor({ known, suspected = [] }: Secrets = { known: [] }): Redactor {
  const content = replacer(known)
  const configured = replacer([...known, ...suspected])
  const error = (text: string): string => escaped(withoutShapes(bounded(configured(text))))
  return {
    error,
    line: text => error(text).trim().replaceAll('\n', '\\n'),
    block: text => error(text).trim().replaceAll('\n', '\n    '),
    entry: value => mapped(value, (text, field) => (SECRET_FIELD.test(field) ? REDACTED : error(text))),
    content: value => mapped(value, content),
  }
}

/** Escapes control characters, all but line ends and tabs, and those that change the direction of a text. */
export const escaped = (text: string): string =>
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

/** Replaces exact values, also as they appear in a URL or in JSON. The longest first: one may contain another. */
function replacer(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap(secret => (secret.length < MIN_SECRET ? [] : formsOf(secret)))
  const sorted = [...new Set(forms)].toSorted((a, b) => b.length - a.length)
  if (sorted.length === 0) return text => text
  const pattern = new RegExp(sorted.map(form => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
  return text => text.replace(pattern, REDACTED)
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret.toWellFormed()),
  JSON.stringify(secret).slice(1, -1),
]

/** What looks like a secret, known or not. Every pattern is bounded, since the text may come from an attacker. */
function withoutShapes(text: string): string {
  return text
    .replaceAll(PRIVATE_KEY, REDACTED)
    .replaceAll(URL_LOGIN, `$1${REDACTED}@`)
    .replaceAll(PREFIXED, REDACTED)
    .replaceAll(SCHEME, (all, before: string, value: string) => (isWord(before, value) ? all : `${before}${REDACTED}`))
    .replaceAll(ASSIGNED, (all, name: string, before: string, value: string) =>
      isAssignedSecret(name, before, value) ? `${name}${before}${REDACTED}` : all,
    )
    .replaceAll(NAMED, (all, name: string, before: string, value: string) =>
      isRandom(value) && !isPathStart(before) ? `${name}${before}${REDACTED}` : all,
    )
}

const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|$)/g
const URL_LOGIN = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,500}@/gi
/** Tokens that say what they are: OpenAI, Stripe, GitHub, GitLab, Slack, AWS, Google, Hugging Face, npm, JWT. */
const PREFIXED =
  /\b(?:sk-[\w*-]{8,}|[sr]k_(?:live|test)_\w{8,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{20,}|ya29\.[\w-]{16,}|hf_\w{16,}|npm_\w{16,}|eyJ[\w-]{8,1000}\.[\w-]{8,2000}(?:\.[\w-]{0,1000})?)/g
const SCHEME = /\b((?:bearer|basic)\s{1,4})([\w.~+/=-]{8,})/gi
const NAME = '(?:key|token|secret|passw(?:or)?d|passphrase|pwd|authorization|credential|cookie)'
/** `password=…`, `"api_key":"…"`, `X-Api-Key: …`. */
const ASSIGNED = new RegExp(`(${NAME}s?)(\\\\?["']?\\s{0,2}[=:]\\s{0,2}\\\\?["']?)([^\\s"'\\\\,;&<>[\\]{}]{6,})`, 'gi')
/** `Incorrect API key provided: …`: up to two words in between. */
const NAMED = new RegExp(
  `(${NAME}s?)((?:[^A-Za-z0-9\\n]{1,4}[a-z]{1,10}){0,2}[^A-Za-z0-9\\n]{1,4})([A-Za-z0-9+/_=-]{16,})`,
  'gi',
)

/** Follows `Bearer` or `Basic` in a sentence: "Bearer authentication is required". */
const isWord = (before: string, value: string): boolean =>
  /^(?:auth\w+|challenges?|credentials?|headers?|realm=?|required|schemes?|tokens?)\.?$/i.test(value) ||
  (/^basic/i.test(before) && /^[a-z]+\.?$/.test(value))

function isAssignedSecret(name: string, before: string, value: string): boolean {
  if (isRandom(value)) return true
  // A key or a token may be the name of something: `Duplicate key: user_profile_2`.
  if (/^(?:key|token)/i.test(name) && (/\s/.test(before) || value.length < MIN_SECRET)) return false
  return /\d/.test(value) && /[a-z]/i.test(value)
}

/** Long, and neither words nor a number. */
const isRandom = (value: string): boolean =>
  value.length >= 16 && /\d/.test(value) && /[a-z]/i.test(value) && (isMixed(value) || /[a-z0-9+/=]{16,}/i.test(value))

const isMixed = (value: string): boolean => /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value)

const isPathStart = (before: string): boolean => /[/\\.~]$/.test(before)

/** Fields whose text is secret, whatever it looks like. */
const SECRET_FIELD = new RegExp(`${NAME}$`, 'i')

/** Each text replaced, names of fields included. */
function mapped(value: Json, replace: (text: string, field: string) => string, field = ''): Json {
  if (typeof value === 'string') return replace(value, field)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(each => mapped(each, replace))
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [replace(name, ''), mapped(each, replace, name)]),
  )
}
