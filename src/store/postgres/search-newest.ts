import { SEARCH_KINDS, type SearchKind, type Term } from '../../core/text/search.ts'
import type { NewestOptions } from '../search.ts'
import { exactQuery, lookupOf, scopeOf, spanSql, SPANS, unitSql } from './search-lexemes.ts'
import type { Statement, Value } from './session.ts'
import { SCHEMA } from './schema.ts'

/** A word in fewer documents is rare: all of them are read. Counting stops here. */
export const RARE = 500
/** A prefix with more matching words is not expanded. */
const MAX_WORDS = 128

/** Sorts after all others bytewise. */
const LAST_CHARACTER = '\u{10ffff}'

export function newestValues(
  tenant: string,
  kinds: readonly SearchKind[],
  terms: readonly Term[],
  { limit, enough, after }: NewestOptions,
): Value[] {
  const { words, beginnings, open, openBeginning } = lookupOf(terms)
  const scopes = kinds.map(kind => scopeOf(tenant, kind))
  const exact = scopes.map(scope => exactQuery(scope, terms))
  const [born, conversation, bornSeq] = after ?? []
  const place = after ? [whole(born, 2 ** 53), conversation ?? '', whole(bornSeq, 2 ** 31 - 1)] : []
  return [tenant, limit, enough, scopes, exact, words, beginnings, open, openBeginning, open + LAST_CHARACTER, ...place]
}

/**
 * Selects the newest documents of each kind. If a word is rare, reads all its documents. Otherwise reads span by span,
 * newest first, and stops after a small multiple of the requested documents, however many match. The plan must not
 * depend on the terms, because it is made once.
 */
export function newestStatement(kinds: readonly SearchKind[], isContinued: boolean): Statement {
  const parts = kinds.map((kind, index) => partsOf(SEARCH_KINDS.indexOf(kind), index, isContinued))
  return {
    name: ['runsheet-search', ...kinds, ...(isContinued ? ['continued'] : [])].join('-'),
    text: `WITH RECURSIVE ${parts.join(', ')}
      ${kinds.map((_, index) => `SELECT ${index} AS kind, found${index}.* FROM found${index}`).join(' UNION ALL ')}
      ORDER BY kind, born DESC, conversation DESC, born_seq DESC`,
  }
}

function partsOf(kind: number, index: number, isContinued: boolean): string {
  const scope = `($4::text[])[${index + 1}]`
  const found = Array.from({ length: index }, (_, before) => `(SELECT count(*) FROM found${before})`)
  const documents = `${SCHEMA}.search_documents WHERE tenant = $1 AND kind = ${kind}`
  const upTo = isContinued ? 'AND born <= $11::float8::bigint' : ''
  const behind = isContinued ? 'AND (born, conversation, born_seq) < ($11::float8::bigint, $12, $13::integer)' : ''
  const quoted = (lexeme: string): string => `('''' || ${lexeme} || '''')`
  const columns = 'conversation, ref, seq, tokens, born, born_seq'
  return `
  term${index} AS MATERIALIZED (
    SELECT ${quoted(`${scope} || word`)} AS query,
      coalesce((SELECT documents FROM ${SCHEMA}.search_words WHERE lexeme = ${scope} || word), 0) AS documents
    FROM unnest($6::text[]) word
    UNION ALL
    SELECT ${quoted(`${scope} || beginning`)}, ${RARE} FROM unnest($7::text[]) beginning
    UNION ALL
    SELECT CASE WHEN count(*) > ${MAX_WORDS} THEN ${quoted(`${scope} || $9`)} ELSE string_agg(${quoted('lexeme')}, ' | ') END,
      CASE WHEN count(*) > ${MAX_WORDS} THEN ${RARE} ELSE coalesce(sum(documents), 0) END
    FROM (
      SELECT lexeme, documents FROM ${SCHEMA}.search_words
      WHERE lexeme >= ${scope} || $8 AND lexeme < ${scope} || $10 LIMIT ${MAX_WORDS + 1}
    ) word HAVING $8 <> ''
  ), query${index} AS MATERIALIZED (
    SELECT min(documents) < ${RARE} AS is_rare, CASE WHEN min(documents) < ${RARE}
      THEN (array_agg(query ORDER BY documents))[1] ELSE string_agg('(' || query || ')', ' & ') END::tsquery AS query
    FROM term${index} WHERE ${['0', ...found].join(' + ')} < $3::bigint
  ),
  ${spansOf(`commits${index}`, `${documents} AND born >= 0`, upTo)},
  ${spansOf(`times${index}`, `${documents} AND born < 0`, upTo)},
  found${index} AS MATERIALIZED (
    SELECT found.* FROM (
      SELECT query, NULL AS newest FROM query${index} WHERE is_rare
      UNION ALL
      SELECT query && ${quoted(spanSql(scope, 'level', 'newest'))}::tsquery, newest
      FROM query${index} CROSS JOIN (SELECT * FROM commits${index} UNION ALL SELECT * FROM times${index}) span
      WHERE NOT is_rare
    ) span CROSS JOIN LATERAL (
      SELECT ${columns} FROM (
        -- OFFSET keeps the planner from looking at all documents of the tenant instead.
        SELECT tenant, kind, lexemes, ${columns} FROM ${SCHEMA}.search_documents WHERE lexemes @@ span.query OFFSET 0
      ) looked_up
      WHERE tenant = $1 AND kind = ${kind} AND (span.newest IS NULL OR ${unitSql('born')} <= span.newest)
        AND ts_match_vq(lexemes, ($5::text[])[${index + 1}]::tsquery) ${behind}
      ORDER BY born DESC, conversation DESC, born_seq DESC LIMIT $2
    ) found LIMIT $2
  )`
}

/**
 * Yields spans from newest to oldest, lazily, each up to `2 ** bits` times as long as all before it. A span may include
 * units newer than its `newest`; earlier spans covered those.
 */
const spansOf = (name: string, documents: string, upTo: string): string => `
  ${name}_edge AS MATERIALIZED (
    SELECT ${unitSql('first')} AS head, ${unitSql('last')} AS tail FROM (
      SELECT (SELECT born FROM ${documents} ${upTo} ORDER BY born DESC LIMIT 1) AS first,
        (SELECT born FROM ${documents} ORDER BY born LIMIT 1) AS last
    ) edge
  ), ${name} (level, newest, oldest) AS (
    SELECT 1, head, ${startOf('head', '1')} FROM ${name}_edge WHERE head IS NOT NULL
    UNION ALL
    SELECT next.level, oldest - 1, ${startOf('(oldest - 1)', 'next.level')}
    FROM ${name} CROSS JOIN ${name}_edge CROSS JOIN LATERAL (
      SELECT least(${SPANS.levels}, 1 + floor(ln(head - oldest + 1) / ln(${2 ** SPANS.bits})))::integer AS level
    ) next WHERE oldest > tail
  )`

const startOf = (unit: string, level: string): string =>
  `(${unit} >> (${SPANS.bits} * ${level})) << (${SPANS.bits} * ${level})`

/** Clamps a number from an untrusted cursor to its column's range. */
const whole = (value: string | number | undefined, most: number): number =>
  Math.max(-most, Math.min(most, Math.trunc(Number(value ?? 0))))
