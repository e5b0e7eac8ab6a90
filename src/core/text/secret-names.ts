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
