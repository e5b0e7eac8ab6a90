import { type Run, runsIn, type Token, tokenOf } from './search-tokens.ts'

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
