import { hash } from 'node:crypto'
import { SEARCH_VERSION } from '../../domain/search-tokens.ts'
import type { SearchKind, Term } from '../../domain/search.ts'

/** Of the tokens, and of what is made of them here: raise the first factor when that changes. */
export const INDEX_VERSION = 1 * 1_000 + SEARCH_VERSION

/** A word is also indexed by its first characters, this many: too many words begin alike to look up each. */
const MAX_BEGINNING = 2

/**
 * What precedes the lexemes of a tenant's documents of a kind. Tenants may share one, so this narrows a search but does not
 * separate them.
 */
export const scopeOf = (tenant: string, kind: SearchKind): string =>
  hash('sha256', tenant, 'base64url').slice(0, 2) + kind.charAt(0)

/** The lexemes of words. */
export const wordsOf = (scope: string, tokens: readonly string[]): string[] =>
  Array.from(new Set(tokens), token => scope + token)

/** The lexemes of their beginnings. */
export const beginningsOf = (scope: string, tokens: readonly string[]): string[] =>
  Array.from(new Set(tokens.flatMap(beginningsIn)), beginning => scope + BEGINNING + beginning)

/** What to look up, without scopes. */
export interface Lookup {
  readonly words: readonly string[]
  /** Beginnings that are indexed. */
  readonly beginnings: readonly string[]
  /** A beginning that stands for the words that begin with it, or ''. */
  readonly open: string
  /** One that is indexed, if too many do. */
  readonly openBeginning: string
}

/** What every document that holds the terms has; `exactQuery` tells whether one does hold them. */
export function lookupOf(terms: readonly Term[]): Lookup {
  const isOpen = ({ token, prefix }: Term): boolean => prefix && charactersOf(token).length > MAX_BEGINNING
  const open = terms.findLast(isOpen)
  const others = terms.filter(term => term !== open)
  const first = ({ token }: Term): string => beginningsIn(token).at(-1) ?? ''
  return {
    words: others.filter(({ prefix }) => !prefix).map(({ token }) => token),
    beginnings: others.filter(({ prefix }) => prefix).map(term => BEGINNING + first(term)),
    open: open?.token ?? '',
    openBeginning: open ? BEGINNING + first(open) : '',
  }
}

/** Text for `tsquery`. Neither tokens nor scopes hold quotes or backslashes. */
export const exactQuery = (scope: string, terms: readonly Term[]): string =>
  terms.map(({ token, prefix }) => `'${scope}${token}'${prefix ? ':*' : ''}`).join(' & ')

/** No token holds it. */
const BEGINNING = '<'

const charactersOf = (token: string): string[] => Array.from(token)

function beginningsIn(token: string): string[] {
  const characters = charactersOf(token).slice(0, MAX_BEGINNING)
  return characters.map((_, index) => characters.slice(0, index + 1).join(''))
}

/**
 * GIN knows no order. So each document has a lexeme for the span of commits that it is in, at each of several levels, and a
 * search asks for the newest spans of its scope first. A span of a level is as long as 2 ** `bits` of the level below.
 */
export const SPANS = { levels: 9, bits: 3 }

/** Places count by the number of their commit; those that are a time, which are negative, by 64 ms. */
export const unitSql = (born: string): string => `(CASE WHEN ${born} < 0 THEN ${born} >> 6 ELSE ${born} END)`

/** The lexeme of the span of a level that holds a unit. No token holds its signs. */
export const spanSql = (scope: string, level: string, unit: string): string =>
  `format('%s#%s.%s', ${scope}, ${level}, ${unit} >> (${SPANS.bits} * ${level}))`
