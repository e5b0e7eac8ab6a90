import { SEARCH_KINDS, type SearchKind, type Term } from '../../domain/search.ts'
import type { SortKey } from '../cursor.ts'
import { exactQuery, lookupOf, scopeOf, spanSql, SPANS, TIME_BITS, unitSql } from './search-lexemes.ts'
import type { Statement, Value } from './session.ts'

/** A word that fewer documents have is rare: all of them are read. Words are counted up to this. */
export const RARE = 500
/** If more words begin as asked, they are not looked up one by one. */
const MAX_WORDS = 128

/** The parameters of `newestStatement`. */
export function newestValues(
  tenant: string,
  kinds: readonly SearchKind[],
  terms: readonly Term[],
  { limit, enough, after }: { readonly limit: number; readonly enough: number; readonly after?: SortKey | undefined },
): Value[] {
  const { words, beginnings, open, openBeginning } = lookupOf(terms)
  const scopes = kinds.map(kind => scopeOf(tenant, kind))
  const exact = scopes.map(scope => exactQuery(scope, terms))
  const [born, conversation, bornSeq] = after ?? []
  const place = after ? [whole(born, 2 ** 53), conversation ?? '', whole(bornSeq, 2 ** 31 - 1)] : []
  return [tenant, limit, enough, scopes, exact, words, beginnings, open, openBeginning, ...place]
}

/**
 * The newest documents of each kind. If a word is rare, those that have it are read. Otherwise it reads span by span, from the
 * newest on, each level of them longer than the one before, until it has enough: a few times as many documents as it returns,
 * however many match. The plan must not depend on what is asked, since it is made once.
 */
export function newestStatement(kinds: readonly SearchKind[], isContinued: boolean): Statement {
  const parts = kinds.map((kind, index) => partsOf(SEARCH_KINDS.indexOf(kind), index, isContinued))
  return {
    name: ['runsheet-search', ...kinds, ...(isContinued ? ['continued'] : [])].join('-'),
    text: `WITH ${parts.join(', ')}
      ${kinds.map((_, index) => `SELECT ${index} AS kind, found${index}.* FROM found${index}`).join(' UNION ALL ')}
      ORDER BY kind, born DESC, conversation DESC, born_seq DESC`,
  }
}

function partsOf(kind: number, index: number, isContinued: boolean): string {
  const scope = `($4::text[])[${index + 1}]`
  const found = Array.from({ length: index }, (_, before) => `(SELECT count(*) FROM found${before})`)
  const documents = `runsheet.search_documents WHERE tenant = $1 AND kind = ${kind}`
  const upTo = isContinued ? 'AND born <= $10::float8::bigint' : ''
  const behind = isContinued ? 'AND (born, conversation, born_seq) < ($10::float8::bigint, $11, $12::integer)' : ''
  const quoted = (lexeme: string): string => `'''' || ${lexeme} || ''''`
  const shifted = (level: string): string => `(unit >> (${SPANS.bits} * (${level})))`
  const columns = 'conversation, ref, seq, tokens, born, born_seq'
  return `
  term${index} AS MATERIALIZED (
    SELECT ${quoted(`${scope} || word`)} AS query,
      coalesce((SELECT documents FROM runsheet.search_words WHERE lexeme = ${scope} || word), 0) AS documents
    FROM unnest($6::text[]) word
    UNION ALL
    SELECT ${quoted(`${scope} || beginning`)}, ${RARE} FROM unnest($7::text[]) beginning
    UNION ALL
    SELECT CASE WHEN count(*) > ${MAX_WORDS} THEN ${quoted(`${scope} || $9`)} ELSE string_agg(${quoted('lexeme')}, ' | ') END,
      CASE WHEN count(*) > ${MAX_WORDS} THEN ${RARE} ELSE coalesce(sum(documents), 0) END
    FROM (
      SELECT lexeme, documents FROM runsheet.search_words WHERE lexeme >= ${scope} || $8
      ORDER BY lexeme LIMIT ${MAX_WORDS + 1}
    ) word WHERE starts_with(lexeme, ${scope} || $8) HAVING $8 <> ''
  ), query${index} AS MATERIALIZED (
    SELECT min(documents) < ${RARE} AS is_rare, CASE WHEN min(documents) < ${RARE}
      THEN (array_agg(query ORDER BY documents))[1] ELSE string_agg('(' || query || ')', ' & ') END::tsquery AS query
    FROM term${index} WHERE ${['0', ...found].join(' + ')} < $3::bigint
  ), head${index} AS MATERIALIZED (
    SELECT born, ${unitSql('born')} AS unit FROM (
      (SELECT born FROM ${documents} AND born >= 0 ${upTo} ORDER BY born DESC LIMIT 1)
      UNION ALL
      (SELECT born FROM ${documents} AND born < 0 ${upTo} ORDER BY born DESC LIMIT 1)
    ) head
  ), span${index} AS MATERIALIZED (
    SELECT NULL::boolean AS is_time, query, NULL::bigint AS older FROM query${index} WHERE is_rare
    UNION ALL (
      -- Each level goes back beyond the span of the next that holds its newest, so that it is not much longer than the last.
      SELECT born < 0, coalesce(query && (
          SELECT string_agg(${quoted(spanSql('level', 'span'))}, ' | ')::tsquery
          FROM generate_series((${shifted('level + 1')} - 1) << ${SPANS.bits}, newest) span WHERE level < ${SPANS.levels}
        ), query),
        -- At last, all that is older.
        CASE level WHEN ${SPANS.levels} THEN
          (newest + 1) << (${SPANS.bits * SPANS.levels} + CASE WHEN born < 0 THEN ${TIME_BITS} ELSE 0 END) END
      FROM query${index} CROSS JOIN head${index} CROSS JOIN generate_series(0, ${SPANS.levels}) level
        CROSS JOIN LATERAL (SELECT CASE level WHEN 0 THEN unit ELSE ${shifted('level')} - 2 END AS newest) span
      WHERE NOT is_rare AND (born < 0 OR newest >= 0)
      ORDER BY born DESC, level
    )
  ), found${index} AS MATERIALIZED (
    SELECT found.* FROM span${index} span CROSS JOIN LATERAL (
      SELECT ${columns} FROM (
        -- OFFSET keeps the planner from looking at all documents of the tenant instead.
        SELECT tenant, kind, lexemes, ${columns} FROM runsheet.search_documents WHERE lexemes @@ span.query OFFSET 0
      ) looked_up
      WHERE tenant = $1 AND kind = ${kind} AND ts_match_vq(lexemes, ($5::text[])[${index + 1}]::tsquery) ${behind}
        AND (span.is_time IS NULL OR (born < 0) = span.is_time) AND (span.older IS NULL OR born < span.older)
      ORDER BY born DESC, conversation DESC, born_seq DESC LIMIT $2
    ) found LIMIT $2
  )`
}

/** A number of a cursor, which may be anything, as one that fits its column. */
const whole = (value: string | number | undefined, most: number): number =>
  Math.max(-most, Math.min(most, Math.trunc(Number(value ?? 0))))
