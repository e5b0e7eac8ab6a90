import { MIN_SECRET, REDACTED } from './secret-shapes.ts'

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
