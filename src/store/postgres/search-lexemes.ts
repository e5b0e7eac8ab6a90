import { hash } from 'node:crypto'
import { SEARCH_VERSION } from '../../core/text/search-tokens.ts'
import type { SearchKind, Term } from '../../core/text/search.ts'

/** Covers the tokens and the lexemes made here. Raise the first factor when the lexemes change. */
export const INDEX_VERSION = 1 * 1_000 + SEARCH_VERSION

/** Prefixes up to this length are also indexed: too many words share one to look up each word. */
const MAX_BEGINNING = 2

/**
 * Prefix of the lexemes of a tenant's documents of one kind. Tenants may share a scope: it narrows a search but does
 * not isolate tenants.
 */
export const scopeOf = (tenant: string, kind: SearchKind): string =>
  hash('sha256', tenant, 'base64url').slice(0, 2) + kind.charAt(0)

export const wordsOf = (scope: string, tokens: readonly string[]): string[] =>
  Array.from(new Set(tokens), token => scope + token)

export const beginningsOf = (scope: string, tokens: readonly string[]): string[] =>
  Array.from(new Set(tokens.flatMap(beginningsIn)), beginning => scope + BEGINNING + beginning)

interface Lookup {
  readonly words: readonly string[]
  /** Indexed prefixes. */
  readonly beginnings: readonly string[]
  /** A prefix too long to be indexed, to be expanded to the words that start with it, or ''. */
  readonly open: string
  /** Its indexed prefix, used if too many words start with it. */
  readonly openBeginning: string
}

/** A superset of the matching documents; `exactQuery` filters them. */
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

/** `tsquery` text. Neither tokens nor scopes contain quotes or backslashes. */
export const exactQuery = (scope: string, terms: readonly Term[]): string =>
  terms.map(({ token, prefix }) => `'${scope}${token}'${prefix ? ':*' : ''}`).join(' & ')

/** Occurs in no token. */
const BEGINNING = '<'

const charactersOf = (token: string): string[] => Array.from(token)

function beginningsIn(token: string): string[] {
  const characters = charactersOf(token).slice(0, MAX_BEGINNING)
  return characters.map((_, index) => characters.slice(0, index + 1).join(''))
}

/**
 * GIN has no order. So each document also has a lexeme per level for the span of commits that contains it, and a search
 * queries the newest spans first. A span covers 2 ** `bits` spans of the level below.
 */
export const SPANS = { levels: 9, bits: 3 }

/** The unit of places: one commit. Negative places are times, in units of 64 ms. */
export const unitSql = (born: string): string => `(CASE WHEN ${born} < 0 THEN ${born} >> 6 ELSE ${born} END)`

/** The lexeme of the span that contains a unit, on a level. No token contains its separators. */
export const spanSql = (scope: string, level: string, unit: string): string =>
  `format('%s#%s.%s', ${scope}, ${level}, ${unit} >> (${SPANS.bits} * ${level}))`
