/** Raise it when a text yields other tokens, or an event another text. Stores then rebuild the index. */
export const SEARCH_VERSION = 1

/** Longer words are compared by their beginning. */
const MAX_WORD = 32

/** Characters of a text that are indexed: enough for the longest task, and for the beginning of a longer message. */
const MAX_TEXT = 20_000

/** One character of a run: its folded text, and its place in the original. A run of ASCII is one unit. */
interface Unit {
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface Run {
  /** A script that separates words, one that does not, or a sign that stands for itself, such as an emoji. */
  readonly kind: 'word' | 'unspaced' | 'sign'
  readonly units: readonly Unit[]
}

export interface Token {
  readonly text: string
  readonly units: readonly Unit[]
}

/**
 * The words of a text in order, folded. Scripts without spaces give a bigram for each character and the last character
 * alone, so that every character begins a token.
 */
export function tokensOf(text: string): readonly string[] {
  const indexed = text.slice(0, MAX_TEXT).toWellFormed()
  if (ASCII.test(indexed)) return (indexed.toLowerCase().match(ASCII_WORDS) ?? []).map(word => word.slice(0, MAX_WORD))
  return [...tokensIn(indexed)].map(token => token.text)
}

export function* tokensIn(text: string): Generator<Token> {
  for (const { kind, units } of runsIn(text)) {
    if (kind !== 'unspaced') yield tokenOf(units)
    else for (const index of units.keys()) yield tokenOf(units.slice(index, index + 2))
  }
}

export function* runsIn(text: string): Generator<Run> {
  let run: { kind: Run['kind']; units: Unit[] } | undefined
  for (const match of text.matchAll(CHARACTERS)) {
    const [characters] = match
    const unit = { text: folded(characters), start: match.index, end: match.index + characters.length }
    if (unit.text === '') continue
    const kind = kindOf(characters)
    if (run && run.kind === kind && kind !== 'sign' && run.units.at(-1)?.end === unit.start) {
      run.units.push(unit)
      continue
    }
    if (run) yield run
    run = { kind, units: [unit] }
  }
  if (run) yield run
}

export function tokenOf(units: readonly Unit[]): Token {
  const text = units.map(unit => unit.text).join('')
  return { text: text.length <= MAX_WORD ? text : Array.from(text).slice(0, MAX_WORD).join(''), units }
}

export function endOf({ units }: Token, length: number): number {
  let left = length
  for (const { text, start, end } of units) {
    if (left <= text.length) return end - start === text.length ? start + left : end
    left -= text.length
  }
  return units.at(-1)?.end ?? 0
}

const ASCII = /^[\0-\x7f]*$/
const ASCII_WORDS = /[a-z0-9]+/g

/**
 * In this order: a run of ASCII without a last letter that has a mark; a Hangul syllable in parts; a letter or digit
 * with its marks; a flag; an emoji.
 */
const CHARACTERS =
  /[A-Za-z0-9]+(?![\p{M}\p{Default_Ignorable_Code_Point}])|[\u1100-\u115f]+[\u1160-\u11a7]*[\u11a8-\u11ff]*|[\p{L}\p{N}][\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]*|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}/gv

/** Scripts that do not separate words by spaces; also Hangul, whose words include their particles. */
const UNSPACED =
  /^[[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}]]/v

const LETTER = /^[\p{L}\p{N}]/u

function kindOf(characters: string): Run['kind'] {
  if (ASCII.test(characters)) return 'word'
  if (UNSPACED.test(characters)) return 'unspaced'
  return LETTER.test(characters) ? 'word' : 'sign'
}

/** A fast path: ideographs, kana and Hangul syllables that folding does not change. */
const UNCHANGED = /^[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]$/

/**
 * Marks of no particular script are diacritics, except those of kana, which make another letter. Hebrew pointing also
 * counts.
 */
const DIACRITICS =
  /[[\p{Mn}&&[\p{Script=Inherited}\p{Script=Hebrew}]]--[\u3099\u309a]]|\p{Default_Ignorable_Code_Point}/gv

/** Letters that Unicode does not decompose, and what people type for them. */
const ALIKE: Readonly<Record<string, string>> = {
  ς: 'σ',
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  þ: 'th',
  ŧ: 't',
}
const ALIKE_LETTERS = /[ςæđðħłøœþŧ]/g

const NOT_IN_WORDS = /[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}\p{Regional_Indicator}]/gu

function folded(characters: string): string {
  if (ASCII.test(characters)) return characters.toLowerCase()
  if (UNCHANGED.test(characters)) return characters
  return (
    characters
      .normalize('NFKD')
      .replace(DIACRITICS, '')
      // Upper case expands ß; lower case leaves it.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replace(ALIKE_LETTERS, letter => ALIKE[letter] ?? letter)
      .normalize('NFC')
      .replace(NOT_IN_WORDS, '')
  )
}

/** The kinds of results, in display order. */
export const SEARCH_KINDS = ['conversation', 'task', 'message'] as const
/** The kinds of search results. */
export type SearchKind = (typeof SEARCH_KINDS)[number]

/** A token to search for; with `prefix`, it matches every token that begins with it. */
export interface Term {
  readonly token: string
  readonly prefix: boolean
}

/** The maximum of characters and terms in a query; the rest is ignored. */
const MAX_QUERY = 400
const MAX_TERMS = 16

/** The newest matching documents of a kind that are ranked. */
export const MAX_RANKED = 100

export const MAX_RESULTS = 50

/**
 * The terms of a query; a document must have all of them. The last term is a prefix, because it is still being typed;
 * so is a single character of a script without spaces. A query without a word has no terms and finds nothing.
 */
export function termsOf(query: string): readonly Term[] {
  const asked = [...runsIn(query.slice(0, MAX_QUERY).toWellFormed())].flatMap(queryTokens)
  const terms = asked.map(({ token, single }, index) => ({
    token: token.text,
    prefix: single || index === asked.length - 1,
  }))
  const distinct = new Map(terms.map(term => [`${term.prefix}${term.token}`, term]))
  return [...distinct.values()].slice(0, MAX_TERMS)
}

export const fits = (token: string, term: Term): boolean =>
  term.prefix ? token.startsWith(term.token) : token === term.token

/** Counts the terms in tokens joined by spaces; 0 if one is missing. */
export function matchesIn(tokens: string, terms: readonly Term[]): number {
  const text = ` ${tokens} `
  let matches = 0
  for (const { token, prefix } of terms) {
    const found = occurrences(text, prefix ? ` ${token}` : ` ${token} `)
    if (found === 0) return 0
    matches += found
  }
  return matches
}

/** Sorts documents of one kind, given newest first: more matches first, then newer ones. */
export function ranked<D extends { readonly tokens: string }>(documents: readonly D[], terms: readonly Term[]): D[] {
  return documents
    .map(document => ({ document, matches: matchesIn(document.tokens, terms) }))
    .sort((a, b) => b.matches - a.matches)
    .map(({ document }) => document)
}

/** Ends a whole word among index keys. A private-use character, so no token contains it. */
const END = '\ue000'

/**
 * The index keys of a token for a store without prefix queries: each of its prefixes, and the whole. Lookups then use
 * equality only, and can read the newest documents without the others.
 */
export function keysOf(tokens: Iterable<string>): Set<string> {
  const keys = new Set<string>()
  for (const token of new Set(tokens)) {
    let beginning = ''
    for (const character of token) keys.add((beginning += character))
    keys.add(token + END)
  }
  return keys
}

export const keyOf = ({ token, prefix }: Term): string => (prefix ? token : token + END)

/** The bigrams of a run without spaces, or its only character; otherwise its word. */
function queryTokens({ kind, units }: Run): { token: Token; single: boolean }[] {
  if (kind !== 'unspaced') return [{ token: tokenOf(units), single: false }]
  if (units.length === 1) return [{ token: tokenOf(units), single: true }]
  return units.slice(1).map((_, index) => ({ token: tokenOf(units.slice(index, index + 2)), single: false }))
}

function occurrences(text: string, part: string): number {
  let count = 0
  // Tokens share the space between them.
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length - 1)) count += 1
  return count
}

/** A piece of a text; `match` marks pieces that match the search. Joined, the pieces are the text. */
export interface Part {
  readonly text: string
  /** It matches the search. */
  readonly match?: true
}

/** Characters of an excerpt, and the maximum of them before the first match. */
const EXCERPT = 160
const LEAD = 40

export const marked = (text: string, terms: readonly Term[]): readonly Part[] =>
  parts(text, 0, text.length, rangesIn(text, terms, text.length))

/** The text around the first match, in parts, on one line; empty if nothing matches. */
export function excerpt(raw: string, terms: readonly Term[]): readonly Part[] {
  const text = raw.replace(/\s/g, ' ')
  const [first] = rangesIn(text, terms, 1)
  if (!first) return []
  const start = boundary(text, Math.max(0, first.start - LEAD))
  const end = boundary(text, Math.min(text.length, Math.max(start + EXCERPT, first.end)))
  const inside = text.slice(start, end)
  const shown = parts(inside, 0, inside.length, rangesIn(inside, terms, inside.length))
  return [...(start > 0 ? ELLIPSIS : []), ...shown, ...(end < text.length ? ELLIPSIS : [])]
}

interface Range {
  readonly start: number
  readonly end: number
}

const ELLIPSIS: readonly Part[] = [{ text: '…' }]

/** The first `limit` matches in order; adjacent and overlapping ones are merged. */
function rangesIn(text: string, terms: readonly Term[], limit: number): Range[] {
  const ranges: Range[] = []
  for (const token of tokensIn(text)) {
    const lengths = terms.filter(term => fits(token.text, term)).map(term => term.token.length)
    if (lengths.length === 0) continue
    const start = token.units[0]?.start ?? 0
    const end = endOf(token, Math.max(...lengths))
    const last = ranges.at(-1)
    if (last && start <= last.end) ranges[ranges.length - 1] = { start: last.start, end: Math.max(end, last.end) }
    else if (ranges.length === limit) break
    else ranges.push({ start, end })
  }
  return ranges
}

function parts(text: string, from: number, to: number, ranges: readonly Range[]): Part[] {
  const list: Part[] = []
  let at = from
  for (const { start, end } of ranges) {
    if (start > at) list.push({ text: text.slice(at, start) })
    list.push({ text: text.slice(start, end), match: true })
    at = end
  }
  if (at < to) list.push({ text: text.slice(at, to) })
  return list
}

/** Never splits a surrogate pair. */
const boundary = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at)
