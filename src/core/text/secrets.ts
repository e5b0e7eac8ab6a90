import type { Secrets } from './redact.ts'
import { isSecretName, isToken } from './secret-shapes.ts'

export type FoundSecrets = Required<Secrets>

type Setting = readonly [name: string, value: string]

const NONE: FoundSecrets = { known: [], suspected: [] }

export const together = (found: readonly FoundSecrets[]): FoundSecrets => ({
  known: found.flatMap(({ known }) => known),
  suspected: found.flatMap(({ suspected }) => suspected),
})

/**
 * The password and the secret query parameters of a URL. Suspected: the other parameters, long or random parts of the
 * path, and a name without a password.
 */
export function secretsInUrl(url: string): FoundSecrets {
  if (!URL.canParse(url)) return NONE
  const { protocol, username, password, pathname } = new URL(url)
  const query = queryOf(url)
  const name = spellings(username)
  const path = pathname.split('/').flatMap(part => (isUnusual(part) ? spellings(part) : []))
  // For a database, a name without a password is just a name.
  const isTokenPossible = password === '' && /^https?:$/.test(protocol)
  return {
    known: [
      ...spellings(password),
      ...name.filter(isToken),
      ...query.flatMap(([key, value]) => (isSecretName(key) ? spellings(value) : [])),
    ],
    suspected: [
      ...(isTokenPossible ? name : []),
      ...path,
      ...query.flatMap(([, value]) => (isOrdinary(value) ? [] : spellings(value))),
    ],
  }
}

export const secretsInVariables = (variables: Readonly<Record<string, string>>): FoundSecrets =>
  together(Object.entries(variables).map(secretsInVariable))

/** Every header may be secret, except those that every client sends. */
export const secretsInHeaders = (headers: Readonly<Record<string, string>>): FoundSecrets =>
  together(
    Object.entries(headers).map(header => {
      const [name, value] = header
      const { known, suspected } = secretsInSetting(header)
      if (ORDINARY_HEADER.test(name) || isOrdinary(value)) return { known, suspected: [] }
      return { known, suspected: [...suspected, value, withoutScheme(value)] }
    }),
  )

export function secretsInArguments(args: readonly string[]): FoundSecrets {
  // A shell's command line is one argument.
  const words = args.flatMap(arg => (/\s/.test(arg) ? arg.split(/\s+/) : []))
  const options = [...optionsIn(args), ...optionsIn(words)]
  const { known, suspected } = together([...options.map(secretsInSetting), ...args.map(secretsInText)])
  return { known, suspected: [...suspected, ...args.filter(isToken)] }
}

function secretsInVariable(setting: Setting): FoundSecrets {
  const [, value] = setting
  const { known, suspected } = secretsInSetting(setting)
  return { known, suspected: isPath(value) || isPlain(value) ? suspected : [...suspected, value] }
}

function secretsInSetting([name, value]: Setting): FoundSecrets {
  const inside = secretsInText(value)
  if (!isSecretName(name) || isPath(value)) return inside
  return { ...inside, known: [...inside.known, ...spokenForms(name, value)] }
}

/** Values assigned to secret names in a text (`API_KEY=…`, `Authorization: …`, `{"apiKey":"…"}`), and its URLs. */
function secretsInText(text: string): FoundSecrets {
  const urls = [...text.matchAll(/[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>]+/gi)].map(([url]) => secretsInUrl(url))
  const assigned = assignmentsIn(text).filter(([name, value]) => isSecretName(name) && !isPath(value))
  return together([...urls, { ...NONE, known: assigned.flatMap(([name, value]) => spokenForms(name, value)) }])
}

/** Forms in which a secret setting may be repeated: without `Bearer`, decoded from `Basic`, one of several. */
function spokenForms(name: string, value: string): readonly string[] {
  const token = withoutScheme(value)
  const login = /^basic /i.test(value) ? decodedLogin(token) : []
  const several = /(?:key|token|secret|password|credential)s$/i.test(name) ? value.split(/[,;\s]+/) : []
  return [value, token, ...login, ...several]
}

function assignmentsIn(text: string): readonly Setting[] {
  const [, name, value] = /^([\w.-]+)\s?[=:]\s?(.+)$/s.exec(text) ?? []
  const whole = name === undefined || value === undefined ? [] : [[name, value] as const]
  const parts = [...text.matchAll(/([A-Za-z][\w.-]*)\s?[=:]\s?("[^"]*"|'[^']*'|[^\s"',;&]+)/g)]
  return [
    ...whole,
    ...parts.map(([, key = '', said = '']) => [key, said.replaceAll(/^["']|["']$/g, '')] as const),
    ...fieldsIn(text),
  ]
}

function fieldsIn(text: string): readonly Setting[] {
  if (!/^\s*[{[]/.test(text)) return []
  const found: Setting[] = []
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value === 'string') found.push([name, value])
      return value
    })
  } catch {
    return []
  }
  return found
}

/** `--api-key VALUE` and `--api-key=VALUE`. */
const optionsIn = (args: readonly string[]): readonly Setting[] =>
  args.flatMap((arg, place) => {
    const [, name, value = args[place + 1]] = /^--?([\w-]+)(?:=(.*))?$/s.exec(arg) ?? []
    return name === undefined || value === undefined || /^--[a-z]/.test(value) ? [] : [[name, value] as const]
  })

/** The parameters of a query and of a fragment, undecoded. One without a value counts as a value. */
function queryOf(url: string): readonly Setting[] {
  const [, ...parts] = url.split(/[?#]/)
  return parts
    .flatMap(part => part.split('&'))
    .map(pair => {
      const [name = '', ...value] = pair.split('=')
      return [name, value.length === 0 ? name : value.join('=')]
    })
}

/** As written, and decoded both as a path and as a form. */
const spellings = (text: string): readonly string[] =>
  [...new Set([text, decoded(text), decoded(text.replaceAll('+', ' '))])].filter(Boolean)

/** True for a part of a path that is no word of an API. */
const isUnusual = (part: string): boolean =>
  part.length >= 16 || (part.length >= 8 && (/\d[a-z]+\d/i.test(part) || (/\d{4}/.test(part) && /[a-z]/i.test(part))))

/** Our own name, or a version: `2024-10-21-preview`, `1.2.0`. */
const isOrdinary = (value: string): boolean =>
  /^(?:runsheet|(?:\d{4}-\d{2}-\d{2}|v?\d{1,3}(?:\.\d{1,3})*)(?:-[a-z]+)?)$/i.test(value)

const ORDINARY_HEADER =
  /^(?:accept.*|cache-control|connection|content-.*|host|origin|pragma|referer|user-agent|.*version)$/i

/** `Authorization: Bearer …`: the token may be repeated without its scheme. */
const withoutScheme = (value: string): string => value.replace(/^[\w-]+ +(?=\S+$)/, '')

/** The password of `Basic`, alone and with its name. */
function decodedLogin(token: string): readonly string[] {
  try {
    const login = atob(token)
    return [login, login.replace(/^[^:]*:/, '')]
  } catch {
    return []
  }
}

/** Judged by the first folder, because base64 has slashes, too. */
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
