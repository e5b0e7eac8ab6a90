/**
 * The meaning of a name for its value. `certain`: it is a secret. `likely`: the name may also belong to a thing
 * (`Duplicate key: user_profile_2`). `possible`: it is a secret if it looks random.
 */
type Certainty = 'certain' | 'likely' | 'possible'

/** Names of secrets, as patterns in lower case. They are found inside longer names: `X-Api-Key`, `GITHUB_TOKEN`. */
const NAMES: Readonly<Record<Certainty, readonly string[]>> = {
  certain: [
    '(?:api|access|secret|private|master|signing|subscription)[-_ ]?key',
    '(?:api|access|auth|bearer|refresh)[-_ ]?token',
    'secret',
    'passw(?:or)?d',
    'passphrase',
    'pwd',
    'credential',
    'authorization',
    'cookie',
  ],
  likely: ['key', 'token'],
  possible: ['session(?:[-_ ]?id)?', 'auth(?!or(?!i))', 'signature', 'private', 'dsn', 'webhook', 'jwt'],
}

/** Only as a whole word of a name: in a longer word they mean something else (`path`, `spin`, `compass`, `encode`). */
const WORDS: Readonly<Record<Exclude<Certainty, 'likely'>, readonly string[]>> = {
  certain: ['pass', 'pw', 'pat', 'pin', 'otp', 'sig', 'sas', 'psk', 'creds?'],
  possible: ['code', 'sid'],
}

export const isSecretName = (name: string): boolean => ANYWHERE.test(name) || WHOLE.test(wordsOf(name))

export function certaintyOf(name: string): Certainty {
  if (CERTAIN.test(name)) return 'certain'
  return LIKELY.test(name) ? 'likely' : 'possible'
}

const ANYWHERE = new RegExp(Object.values(NAMES).flat().join('|'), 'i')
const WHOLE = new RegExp(`\\b(?:${Object.values(WORDS).flat().join('|')})\\b`, 'i')

/** Splits `dbPass` and `DB_PASS` into words. */
const wordsOf = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])|[^A-Za-z]+/g, ' ')

const anyCase = (pattern: string): string => pattern.replaceAll(/[a-z]/g, each => `[${each}${each.toUpperCase()}]`)
const capital = (pattern: string): string => pattern.replace(/^[a-z]/, first => first.toUpperCase())
const either = (patterns: readonly string[]): string => `(?:${patterns.join('|')})`

const namesInText = (...certainties: readonly Certainty[]): string => {
  const words = certainties.flatMap(each => (each === 'likely' ? [] : WORDS[each]))
  const anywhere = certainties.flatMap(each => NAMES[each])
  return either([
    ...anywhere.map(anyCase),
    `(?<![A-Za-z])${either(words.map(anyCase))}`,
    `(?<=[a-z])${either(words.map(capital))}`,
  ])
}

/** The source of a pattern for a name at the end of an identifier in a text, in any case. */
export const NAME_IN_TEXT = namesInText('certain', 'likely', 'possible')
/** As `NAME_IN_TEXT`, without names that mean other things in a sentence. */
export const NAME_IN_SENTENCE = namesInText('certain', 'likely')

const CERTAIN = new RegExp(`^${either([...NAMES.certain, ...WORDS.certain])}s?$`, 'i')
const LIKELY = new RegExp(`^${either(NAMES.likely)}s?$`, 'i')

export const REDACTED = '[redacted]'
/** Shorter values are ignored: they would match ordinary words. */
export const MIN_SECRET = 8

/** Removes anything that looks like a secret. Every pattern is bounded, because the text may come from an attacker. */
export function withoutShapes(text: string): string {
  const plain = text
    .replaceAll(PRIVATE_KEY, REDACTED)
    .replaceAll(URL_LOGIN, `$1${REDACTED}@`)
    .replaceAll(PREFIXED, REDACTED)
    .replaceAll(COOKIES, `$1${REDACTED}`)
    .replaceAll(SCHEME, (all, before: string, value: string) => (isWord(before, value) ? all : `${before}${REDACTED}`))
  return withoutValues(withoutValues(plain, ASSIGNED, isAssignedSecret), NAMED, isNamedSecret)
}

/** True for long values that are neither words nor a number. */
const isRandom = (value: string): boolean => isUuid(value) || isRandomRun(value) || isGibberish(value)

/** True for words with a token's prefix and words that look random. Names of packages and paths are no tokens. */
export const isToken = (word: string): boolean =>
  TOKEN_PREFIX.test(word) || (/^[\w.~+=-]{16,}$/.test(word) && isRandom(word))

/** True if the name or the text of a field, such as a header in a log entry, marks it as secret. */
export function isSecretField(name: string, text: string): boolean {
  const [secret] = FIELD.exec(name) ?? []
  return secret !== undefined && (certaintyOf(secret) !== 'possible' || isRandom(text))
}

const FIELD = new RegExp(`${NAME_IN_TEXT}[sS]?$`)
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----|$)/g
/** `me:password@`, and a long name alone, which may be a token. */
const URL_LOGIN = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^\s/@:"'<>]{0,200}:[^\s/?#"'<>]{1,500}|[^\s/@:?#"'<>]{8,500})@/gi

/** Tokens with a known prefix. */
const PREFIXED = new RegExp(
  [
    // OpenAI, Anthropic, DeepSeek, OpenRouter; Stripe
    'sk-[\\w*-]{8,}|[sr]k_(?:live|test)_\\w{8,}|whsec_[\\w+/]{16,}',
    // GitHub, GitLab
    'gh[opsur]_\\w{16,}|github_pat_\\w{16,}|gl(?:pat|dt|rt)-[\\w-]{16,}',
    // Groq, Hugging Face, Replicate, xAI, Perplexity, Tavily, NVIDIA
    '(?:gsk|hf|r8)_[A-Za-z0-9]{16,}|(?:xai|pplx)-[A-Za-z0-9]{14,}|(?:tvly|nvapi)-[\\w-]{16,}',
    // AWS, Google, DigitalOcean, Vault, Supabase
    'A[KS]IA[0-9A-Z]{16}|AIza[\\w-]{20,}|ya29\\.[\\w-]{16,}|do[opr]_v1_[a-f0-9]{16,}|hv[sb]\\.[\\w-]{16,}|sbp_[a-f0-9]{16,}',
    // Slack, SendGrid, Shopify, Linear, Notion, Atlassian, Figma, npm, PyPI, Docker, Grafana
    'xox[a-z]-[\\w-]{8,}|xapp-[\\w-]{16,}|SG\\.[\\w-]{16,}\\.[\\w-]{8,}|shp(?:at|ca|pa|ss)_[a-f0-9]{16,}|lin_(?:api|oauth)_[A-Za-z0-9]{16,}',
    'ntn_[A-Za-z0-9]{16,}|ATATT[\\w=-]{16,}|figd_[\\w-]{16,}|npm_[A-Za-z0-9]{16,}|pypi-[\\w-]{16,}|dckr_pat_[\\w-]{16,}|glsa_\\w{16,}',
    // Only at the start of a run, to avoid a failed attempt at every other place.
    '(?<!-)eyJ[\\w-]{8,1000}\\.[\\w-]{8,4000}(?:\\.[\\w-]{0,2000})?',
  ]
    .map(each => `\\b(?:${each})`)
    .join('|'),
  'g',
)

const TOKEN_PREFIX = new RegExp(`^(?:${PREFIXED.source})$`)

const QUOTE = `(?:\\\\{0,3}["']|&quot;|&#39;)`
/** `=`, `: `, `=>`, `%3D`; in a list of headers `","`. */
const ASSIGN = `(?:${QUOTE}?\\s{0,2}(?:[=:]>?|%3[aAdD])\\s{0,2}${QUOTE}?|${QUOTE},\\s?${QUOTE})`

/** `Cookie: a=1; b=2`: to the end of the line or of the quoted text. */
const COOKIES = new RegExp(`((?:set-)?cookie${ASSIGN})[\\w.$-]{1,100}=[^\\n"'\\\\]{1,8000}`, 'gi')
/** `Bearer …`, `Basic …`; others only in a header of that name. */
const SCHEME = new RegExp(
  `((?:(?<![A-Za-z])(?:bearer|basic)(?:\\s{0,2}[=:]\\s{0,2}|\\s{1,4}|%20|\\+|&nbsp;)|authorization${ASSIGN}(?:token|api-?key|digest|negotiate|[\\w-]{0,8}hmac[\\w-]{0,8})\\s{1,4})${QUOTE}?)([\\w.~+/=%-]{8,})`,
  'gi',
)

// A value is judged by its beginning, and removed as a whole.
/** `password=…`, `"api_key":"…"`, `X-Api-Key: …`. */
const ASSIGNED = new RegExp(`(${NAME_IN_TEXT}[sS]?)(${ASSIGN})([^\\s"'\\\\,;&<>[\\]{}]{6,64})`, 'g')
/** `Incorrect API key provided: …`: up to two words in between. */
const NAMED = new RegExp(
  `(${NAME_IN_SENTENCE}[sS]?)((?:[^A-Za-z0-9\\n]{1,4}[A-Za-z]{1,10}){0,2}?[^A-Za-z0-9\\n]{1,4})([A-Za-z0-9+/_=-]{16,64})`,
  'g',
)
const REST = /[^\s"'\\,;&<>[\]{}]*/y

interface Found {
  readonly name: string
  readonly before: string
  readonly value: string
  readonly context: string
}

/** A value that is no secret is scanned again, because it may itself be a name (`code: password=…`). */
function withoutValues(text: string, pattern: RegExp, isSecret: (found: Found) => boolean): string {
  let clean = ''
  let done = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [all, name = '', before = '', value = ''] = match
    const start = match.index + all.length - value.length
    const context = text.slice(Math.max(0, match.index - 16), match.index)
    if (isSecret({ name, before, value, context })) {
      clean += text.slice(done, start) + REDACTED
      done = endOfValue(text, start + value.length)
      pattern.lastIndex = done
    } else pattern.lastIndex = start
  }
  return clean + text.slice(done)
}

/** Punctuation that ends a sentence is not part of the value. */
function endOfValue(text: string, from: number): number {
  REST.lastIndex = from
  REST.exec(text)
  return REST.lastIndex - (/[).:!?]{1,3}$/.exec(text.slice(from - 1, REST.lastIndex).slice(-3))?.[0].length ?? 0)
}

/** Follows `Bearer` or `Basic` in a sentence: "Bearer authentication is required". */
const isWord = (before: string, value: string): boolean =>
  /^(?:auth\w*|challenges?|credentials?|expected|headers?|invalid|missing|realm|required|schemes?|tokens?|undefined|[a-z_]{1,30}=)[.:]?$/i.test(
    value,
  ) ||
  (/^basic/i.test(before) && /^[a-z.-]+$/.test(value))

function isAssignedSecret(found: Found): boolean {
  const { name, before, value } = found
  const certainty = certaintyOf(name)
  if (isUuid(value)) return !isDatabaseKey(found)
  if (isRandom(value)) return certainty !== 'possible' || !value.includes('(')
  const isSpaced = /\s/.test(before)
  const hasDigit = /\d/.test(value)
  if (certainty === 'likely') return !isSpaced && value.length >= MIN_SECRET && hasDigit && /[a-z]/i.test(value)
  if (certainty === 'possible' || isOrdinary(value)) return false
  // Plain words in a sentence or a list describe a password; quoted or next to `=` they may be one.
  return hasDigit || !(before.includes(',') || (isSpaced && !/["';]$/.test(before)))
}

function isNamedSecret(found: Found): boolean {
  const { before, value } = found
  if (/[/\\.~]$/.test(before) || /^[a-z-]{2,}\//.test(value)) return false
  // "The token for task 0198…": the UUID is the task's.
  return isUuid(value) ? isDirect(before) && !isDatabaseKey(found) : isRandom(value)
}

/** A description of a password in its place, or the scheme in front of it. */
const isOrdinary = (value: string): boolean =>
  /^(?:api-?key|bearer|digest|disabled|enabled|expired|include|incorrect|invalid|missing|negotiate|optional|protected|required|same-origin|string|undefined|unknown)[.:]?$/i.test(
    value,
  )

const isDatabaseKey = ({ name, context }: Found): boolean =>
  /^keys?$/i.test(name) &&
  /(?:cache|duplicate|foreign|idempotency|object|partition|primary|unique)[ _-]?$/i.test(context)

const isDirect = (before: string): boolean =>
  /^[^a-z]*(?:(?:given|is|provided|used|value|was)[^a-z]+){0,2}$/i.test(before)

const isUuid = (value: string): boolean => /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/i.test(value)

const isRandomRun = (value: string): boolean =>
  value.length >= 16 &&
  /\d/.test(value) &&
  /[a-z]/i.test(value) &&
  (/[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value) || /[a-z0-9+/=]{16,}/i.test(value))

/** Letters with few of the pairs that words are made of. Matches 98 % of random values and 1 % of long identifiers. */
function isGibberish(value: string): boolean {
  if (!/^[a-z][a-z_-]{15,}[.:]?$/i.test(value)) return false
  return (value.match(COMMON_PAIRS)?.length ?? 0) < 0.35 * (value.match(PAIRS)?.length ?? 0)
}

const PAIRS = /(?=[a-z]{2})/gi
/** The hundred most common pairs of letters in English. */
const COMMON_PAIRS =
  /(?=a[cdglmnprst]|c[aehot]|d[ei]|e[acdlmnrstx]|f[io]|g[ei]|h[aeit]|i[clmnost]|l[eilo]|m[aep]|n[acdegost]|o[dlmnpru]|p[aelorst]|r[aeiost]|s[eiost]|t[aehioprsty]|u[lnrst]|ve|wi)/gi
