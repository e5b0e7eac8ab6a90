import { MIN_SECRET, REDACTED } from './secret-shapes.ts'

/**
 * Replaces exact values, also as written in a URL, in JSON or in HTML. The longest goes first, because one may contain
 * another.
 */
export function exactReplacer(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.filter(isLong).flatMap(writtenForms))
  const sorted = [...forms].toSorted((a, b) => b.length - a.length)
  const shortest = sorted.at(-1)?.length ?? Number.POSITIVE_INFINITY
  return text => {
    if (text.length < shortest) return text
    let clean = text
    for (const form of sorted) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED)
    return clean
  }
}

/**
 * Replaces values in any spelling: any case, escaped for a URL, JSON or HTML, broken by line ends, in base64 or as hex
 * digits. Of `known` values, 16 characters suffice, or 8 next to `****`.
 */
export function looseReplacer(known: readonly string[], suspected: readonly string[]): (text: string) => string {
  const secrets = [...known, ...suspected].filter(isLong)
  const wholes = new Set([...secrets.flatMap(foldedForms), ...secrets.flatMap(encodings)])
  const tokens = new Set(known.filter(isLong).filter(isOneWord).flatMap(foldedForms))
  if (wholes.size === 0) return text => text
  return text => {
    const folded = fold(text)
    const ranges = [
      ...[...wholes].flatMap(whole => occurrences(folded.text, whole)),
      ...[...tokens].flatMap(token => partsOf(folded.text, token)),
    ]
    return ranges.length === 0 ? text : without(text, ranges.map(folded.origin))
  }
}

/** Characters of a secret that count as a secret themselves. */
const LONG_PART = 16
const MASK = /(?:[*•●…]|\.\.\.|xxxx)[*•●….x]{0,200}/y
const MASK_BEFORE = /(?:[*•●…]|\.\.\.|xxxx)$/

const isLong = (secret: string): boolean => secret.length >= MIN_SECRET

/** A part of an address or a sentence gives nothing away. */
const isOneWord = (secret: string): boolean => !/\s|:\/\//.test(secret)

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

const foldedForms = (secret: string): readonly string[] =>
  [...new Set(writtenForms(secret).map(form => fold(form).text))].filter(isLong)

/** Base64 at each of the three byte offsets, and hex digits, in lower case because texts are folded. */
function encodings(secret: string): readonly string[] {
  const bytes = [...new TextEncoder().encode(secret)]
  const binary = bytes.map(byte => String.fromCharCode(byte)).join('')
  const inBase64 = [0, 1, 2].map(shift =>
    btoa('\0'.repeat(shift) + binary)
      .slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
      .toLowerCase(),
  )
  const inBase64Url = inBase64.map(each => each.replaceAll('+', '-').replaceAll('/', '_'))
  return [...inBase64, ...inBase64Url, bytes.map(byte => byte.toString(16).padStart(2, '0')).join('')]
}

function occurrences(text: string, part: string): readonly Range[] {
  const found: Range[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length))
    found.push([at, at + part.length])
  return found
}

function partsOf(text: string, secret: string): readonly Range[] {
  const found: Range[] = []
  const head = secret.slice(0, MIN_SECRET)
  for (let at = text.indexOf(head); at >= 0; ) {
    let to = at + MIN_SECRET
    while (to - at < secret.length && text[to] === secret[to - at]) to += 1
    const mask = maskAt(text, to)
    const isPart = to - at >= LONG_PART || mask > 0
    if (isPart) found.push([at, to + mask])
    at = text.indexOf(head, isPart ? to : at + 1)
  }
  const tail = secret.slice(-MIN_SECRET)
  for (const [start, to] of occurrences(text, tail)) {
    let from = start
    while (to - from < secret.length && text[from - 1] === secret.at(from - to - 1)) from -= 1
    if (to - from >= LONG_PART || MASK_BEFORE.test(text.slice(Math.max(0, from - 4), from))) found.push([from, to])
  }
  return found
}

function maskAt(text: string, at: number): number {
  MASK.lastIndex = at
  return MASK.exec(text)?.[0].length ?? 0
}

function without(text: string, ranges: readonly Range[]): string {
  let clean = ''
  let done = 0
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (from > done || done === 0) clean += `${text.slice(done, from)}${REDACTED}`
    done = Math.max(done, to)
  }
  return clean + text.slice(done)
}

type Range = readonly [from: number, to: number]

/** A text in a normal form that all of its spellings share. */
interface Folded {
  readonly text: string
  /** Maps a range back to the original. An escape is mapped as a whole. */
  readonly origin: (range: Range) => Range
}

/** Lower-cases, removes line ends, and decodes the escapes of URLs, JSON and HTML. */
function fold(original: string): Folded {
  // Only this letter is longer in lower case.
  const lower = original.replaceAll('İ', 'i').toLowerCase()
  const texts: string[] = []
  const parts: Part[] = []
  let at = 0
  let done = 0
  const add = (text: string, to: number): void => {
    texts.push(text)
    parts.push({ at, from: done, to, isEscape: text.length !== to - done })
    at += text.length
    done = to
  }
  for (const { 0: escape, index } of lower.matchAll(ESCAPE)) {
    if (index > done) add(lower.slice(done, index), index)
    add(unescaped(escape), index + escape.length)
  }
  add(lower.slice(done), lower.length)
  const origin = ([from, to]: Range): Range => [originOf(parts, from)[0], originOf(parts, to - 1)[1]]
  return { text: texts.join(''), origin }
}

interface Part {
  readonly at: number
  readonly from: number
  readonly to: number
  readonly isEscape: boolean
}

function originOf(parts: readonly Part[], place: number): Range {
  let low = 0
  let high = parts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((parts[middle]?.at ?? 0) <= place) low = middle
    else high = middle - 1
  }
  const { at, from, to, isEscape } = parts[low] ?? { at: 0, from: 0, to: 0, isEscape: false }
  return isEscape ? [from, to] : [from + place - at, from + place - at + 1]
}

/**
 * `%2f`, `%252f`; `\/`, `\"`, `\n`, `\u002f` behind any number of backslashes; `&amp;`, `&#47;`; line ends; zero-width
 * characters.
 */
const ESCAPE =
  /%(?:25){0,3}[2-7][\da-f]|\\{1,8}(?:u00[2-7][\da-f]|x[2-7][\da-f]|["'/nrt])|\\{2,8}|&(?:amp|lt|gt|quot|apos|#\d{2,3}|#x[2-7][\da-f]);|[ \t]{0,16}[\r\n]\s*|[\u00ad\u200b-\u200d\u2060\ufeff]/g

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(escape: string): string {
  const [, kind = '', rest = ''] = /^(%(?:25)*(?=..)|&#x?|&|\\+[ux]|\\+)(.*?);?$/s.exec(escape) ?? []
  if (kind === '') return ''
  if (kind === '&') return ENTITIES[rest] ?? ''
  if (kind === '&#') return character(Number(rest))
  if (/^%|[ux]$/.test(kind)) return character(Number.parseInt(rest, 16))
  if (rest === '') return '\\'
  return /[nrt]/.test(rest) ? '' : rest
}

const character = (code: number): string => String.fromCharCode(code).toLowerCase()
