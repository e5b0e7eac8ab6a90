import { instantOf } from '../../core/model/instant.ts'
import { isExclusive, type Need } from '../../core/model/needs.ts'
import type { ClaimOptions, DueReview, Lease, Store } from '../store.ts'
import type { Connections, Value } from './connections.ts'
import { SCHEMA } from './schema.ts'

/** Our advisory lock number ("RUNC"), combined with the need's hash: serializes claims for the same need. */
const LOCK = 0x52_55_4e_43

type Leases = Pick<Store, 'now' | 'claim' | 'served' | 'renew' | 'release' | 'due'>

/**
 * Leases of turns and deadlines of reviews, by the database's clock. `leases` may wait for a turn's row lock, `looks`
 * never does.
 */
export function postgresLeases(looks: Connections, leases: Connections, skewMs: () => number): Leases {
  return {
    now: async () => {
      const [clock] = await looks.query<{ now: Date }>(SQL.now, [skewMs()])
      return instantOf(clock?.now.getTime() ?? Number.NaN)
    },
    claim: async (runner, ttlMs, { abilities, wanted }) => {
      const values = [skewMs(), runner, ttlMs, abilities]
      const exclusive = abilities.filter(isExclusive).sort()
      const [lease] = await (exclusive.length > 0
        ? claimAlone(looks, exclusive, [...values, ...named(wanted)])
        : wanted
          ? leases.write<Lease>(SQL.claimWanted, [...values, ...named(wanted)])
          : looks.query<Lease>(SQL.claimAny, values))
      return lease
    },
    served: async need => (await looks.query(SQL.served, [skewMs(), need])).length > 0,
    renew: async ({ tenant, conversation, turn, attempt }, ttlMs) => {
      const renewed = await leases.write(SQL.renew, [skewMs(), ttlMs, tenant, conversation, turn, attempt])
      return renewed.length > 0
    },
    release: async ({ tenant, conversation, turn, attempt }) => {
      await leases.write(SQL.release, [tenant, conversation, turn, attempt])
    },
    due: limit =>
      looks.use(async session => {
        const [reviews, [row]] = await Promise.all([
          session.query<DueReview>(SQL.due, [skewMs(), limit]),
          session.query<{ next: Date | null }>(SQL.next, [skewMs()]),
        ])
        return { reviews, ...(row?.next ? { next: instantOf(row.next.getTime()) } : {}) }
      }),
  }
}

/**
 * Claims a turn when some needs are exclusive. Claims for the same need queue, so each sees the result of the one
 * before. None waits for a row lock.
 */
function claimAlone(looks: Connections, exclusive: readonly Need[], values: readonly Value[]): Promise<Lease[]> {
  return looks.use(async session => {
    const [, , , claimed] = await Promise.all([
      session.begin(),
      session.query(SQL.queue, [exclusive]),
      session.query(SQL.overtake, [values[0] ?? 0, exclusive]),
      session.query<Lease>(SQL.claimAlone, [...values, exclusive]),
      session.query('COMMIT'),
    ])
    return claimed
  })
}

const named = (wanted: ClaimOptions['wanted']): readonly Value[] => [
  wanted?.tenant ?? null,
  wanted?.conversation ?? null,
  wanted?.turn ?? null,
]

// Constant within a statement, so that an index can be used. $1 is the skew.
export const NOW = `(statement_timestamp() + $1::float8 * interval '1 millisecond')`
const FREE = `needs = ANY ($4::text[]) AND until <= ${NOW}`
const TAKE = `SET runner = $2, until = ${NOW} + $3::float8 * interval '1 millisecond', serves = needs,
  attempt = attempt + 1`
const END = `SET runner = NULL, until = '-infinity', serves = NULL`

/** Claims one free turn that meets the condition. Skips turns that are being written. */
const claimWhere = (condition: string): string => `WITH free AS MATERIALIZED (
    SELECT tenant, conversation, turn FROM ${SCHEMA}.turns AS t WHERE ${FREE} AND ${condition}
    ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED
  )
  UPDATE ${SCHEMA}.turns AS t ${TAKE} FROM free
  WHERE (t.tenant, t.conversation, t.turn) = (free.tenant, free.conversation, free.turn)
  RETURNING t.tenant, t.conversation, t.turn, t.attempt`

const SQL = {
  now: `SELECT ${NOW} AS now`,
  claimAny: claimWhere('true'),
  // Waits for a row that is being written, then checks it again.
  claimWanted: `UPDATE ${SCHEMA}.turns ${TAKE} WHERE tenant = $5 AND conversation = $6 AND turn = $7 AND ${FREE}
      RETURNING tenant, conversation, turn, attempt`,
  queue: `SELECT pg_advisory_xact_lock(${LOCK}, hashtext(need)) FROM unnest($1::text[]) AS need`,
  // Fences late holders. A row that is being written may be a renewal in progress, so it is skipped.
  overtake: `WITH late AS MATERIALIZED (
        SELECT tenant, conversation, turn FROM ${SCHEMA}.turns AS t WHERE serves = ANY ($2::text[]) AND until <= ${NOW}
          AND EXISTS (SELECT FROM ${SCHEMA}.turns AS next WHERE next.needs = t.serves AND next.until <= ${NOW})
        FOR UPDATE SKIP LOCKED
      )
      UPDATE ${SCHEMA}.turns AS t ${END}, attempt = attempt + 1 FROM late
      WHERE (t.tenant, t.conversation, t.turn) = (late.tenant, late.conversation, late.turn)`,
  claimAlone: claimWhere(`($5::text IS NULL OR (tenant, conversation, turn) = ($5, $6, $7))
      AND NOT (needs = ANY ($8::text[]) AND EXISTS (SELECT FROM ${SCHEMA}.turns AS o WHERE o.serves = t.needs))`),
  served: `SELECT 1 FROM ${SCHEMA}.turns WHERE serves = $2 AND until > ${NOW} LIMIT 1`,
  renew: `UPDATE ${SCHEMA}.turns SET until = ${NOW} + $2::float8 * interval '1 millisecond'
      WHERE tenant = $3 AND conversation = $4 AND turn = $5 AND attempt = $6 AND until > '-infinity' RETURNING 1`,
  release: `UPDATE ${SCHEMA}.turns ${END}
      WHERE tenant = $1 AND conversation = $2 AND turn = $3 AND attempt = $4`,
  due: `SELECT tenant, conversation, id AS review_id FROM ${SCHEMA}.reviews
      WHERE due_at <= ${NOW} ORDER BY due_at, id LIMIT $2`,
  next: `SELECT min(due_at) AS next FROM ${SCHEMA}.reviews WHERE due_at > ${NOW}`,
}
