import type { Secrets } from './redact.ts'

/** What is secret in a URL: its password, and what its query says it is. */
export function secretsInUrl(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  const { password, searchParams } = new URL(url)
  const inQuery = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
  return [password, decoded(password), ...inQuery].filter(Boolean)
}

/** What is secret in variables or headers: known by its name. All else may be, but for words, numbers and paths. */
export function secretsInSettings(settings: Readonly<Record<string, string>>): Required<Secrets> {
  const entries = Object.entries(settings)
  const isKnown = ([name, value]: readonly [string, string]): boolean => SECRET_NAME.test(name) && !isPath(value)
  const values = entries.map(([, value]) => value)
  return {
    known: [
      ...entries.filter(isKnown).flatMap(([, value]) => [value, withoutScheme(value)]),
      ...values.flatMap(secretsInUrl),
    ],
    suspected: values.filter(value => !isPath(value) && !isPlain(value)),
  }
}

const SECRET_NAME =
  /key|token|secret|passw|passphrase|pwd|credential|auth(?!ors?\b|or_)|cookie|session|signature|private|dsn|webhook|jwt/i

/** `Authorization: Bearer …`: the token may be repeated without its scheme. */
const withoutScheme = (value: string): string => value.replace(/^\w+ +/, '')

/** By its first folder: base64 has slashes, too. */
const isPath = (value: string): boolean =>
  /^(?:~|\.{1,2})?\/(?:app|data|etc|home|Library|mnt|opt|private|root|run|secrets|srv|tmp|Users|usr|var|Volumes)\/|^(?:~|\.{1,2})\/|^[A-Z]:\\/.test(
    value,
  )

/** A word, a number, media types, or an address without a login. */
const isPlain = (value: string): boolean =>
  /^[a-z]+$/i.test(value) ||
  /^[\d.,:]+$/.test(value) ||
  /^[a-z]+\/[a-z.+*-]+(?:, ?[a-z]+\/[a-z.+*-]+)*$/.test(value) ||
  /^https?:\/\/[\w.:-]+\/?$/.test(value)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
