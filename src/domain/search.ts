import { type Run, runsIn, type Token, tokenOf } from './search-tokens.ts'

/** What can be found, in the order of the results. */
export const SEARCH_KINDS = ['conversation', 'task', 'message'] as const
/** What a search can find. */
export type SearchKind = (typeof SEARCH_KINDS)[number]

/** A token to look for; with `prefix`, every token that begins with it counts. */
export interface Term {
  readonly token: string
  readonly prefix: boolean
}

/** Characters and terms of a query at most; what follows is ignored. */
const MAX_QUERY = 400
const MAX_TERMS = 16

/** How many documents of a kind are ranked: the newest that match. */
export const MAX_RANKED = 100

/** Results of a search at most. */
export const MAX_RESULTS = 50

/**
 * The terms of a query, all of which a document has to hold. The last one is a prefix, since it is still being typed, and
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

/** Whether a token is what a term looks for. */
export const fits = (token: string, term: Term): boolean =>
  term.prefix ? token.startsWith(term.token) : token === term.token

/** How often the terms occur in tokens that are joined by spaces; 0 if one of them is missing. */
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

/** Documents of one kind, newest first, in the order of the results: more matches first, then newer ones. */
export function ranked<D extends { readonly tokens: string }>(documents: readonly D[], terms: readonly Term[]): D[] {
  return documents
    .map(document => ({ document, matches: matchesIn(document.tokens, terms) }))
    .sort((a, b) => b.matches - a.matches)
    .map(({ document }) => document)
}

/** Ends a whole word among index keys. No token holds it: it is for private use. */
const END = '\ue000'

/**
 * What an index without prefix queries stores for a token: each beginning of it, and all of it. A look-up then is by equal
 * keys only, whose newest documents can be read without the others.
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

/** The key of a term. */
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
