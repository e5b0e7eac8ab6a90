import { instantOf } from '../../domain/instant.ts'
import type { DueReview, Lease, Store } from '../store.ts'
import type { Database } from './connections.ts'
import type { Statement } from './session.ts'

type Leases = Pick<Store, 'now' | 'claim' | 'renew' | 'release' | 'due'>

/**
 * Leases of turns and deadlines of reviews, compared with the database's clock. `leases` may have to wait for the row of a
 * turn, `looks` never.
 */
export function postgresLeases(looks: Database, leases: Database, skewMs: () => number): Leases {
  return {
    now: async () => {
      const [clock] = await looks.query<{ now: Date }>(SQL.now, [skewMs()])
      return instantOf(clock?.now.getTime() ?? Number.NaN)
    },
    claim: async (runner, ttlMs, wanted) => {
      const [lease] = wanted
        ? await leases.write<Lease>(SQL.claimWanted, [
            skewMs(),
            runner,
            ttlMs,
            wanted.tenant,
            wanted.conversation,
            wanted.turn,
          ])
        : await looks.query<Lease>(SQL.claimAny, [skewMs(), runner, ttlMs])
      return lease
    },
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

// Constant within a statement, so that an index can be used. $1 is the skew.
export const NOW = `(statement_timestamp() + $1::float8 * interval '1 millisecond')`
const FREE = `status = 'running' AND NOT parked AND until <= ${NOW}`
const TAKE = `SET runner = $2, until = ${NOW} + $3::float8 * interval '1 millisecond', attempt = attempt + 1`

const SQL = {
  now: { name: 'runsheet-now', text: `SELECT ${NOW} AS now` },
  claimAny: {
    name: 'runsheet-claim-any',
    text: `WITH free AS MATERIALIZED (
        SELECT tenant, conversation, turn FROM runsheet.turns WHERE ${FREE}
        ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED
      )
      UPDATE runsheet.turns AS t ${TAKE} FROM free
      WHERE (t.tenant, t.conversation, t.turn) = (free.tenant, free.conversation, free.turn)
      RETURNING t.tenant, t.conversation, t.turn, t.attempt`,
  },
  // Waits for a row that is being written, then checks it again.
  claimWanted: {
    name: 'runsheet-claim-wanted',
    text: `UPDATE runsheet.turns ${TAKE} WHERE tenant = $4 AND conversation = $5 AND turn = $6 AND ${FREE}
      RETURNING tenant, conversation, turn, attempt`,
  },
  renew: {
    name: 'runsheet-renew',
    text: `UPDATE runsheet.turns SET until = ${NOW} + $2::float8 * interval '1 millisecond'
      WHERE tenant = $3 AND conversation = $4 AND turn = $5 AND attempt = $6 AND until > '-infinity' RETURNING 1`,
  },
  release: {
    name: 'runsheet-release',
    text: `UPDATE runsheet.turns SET until = '-infinity', runner = NULL
      WHERE tenant = $1 AND conversation = $2 AND turn = $3 AND attempt = $4`,
  },
  due: {
    name: 'runsheet-due',
    text: `SELECT tenant, conversation, id AS review_id FROM runsheet.reviews
      WHERE due_at <= ${NOW} ORDER BY due_at, id LIMIT $2`,
  },
  next: {
    name: 'runsheet-next-due',
    text: `SELECT min(due_at) AS next FROM runsheet.reviews WHERE due_at > ${NOW}`,
  },
} satisfies Record<string, Statement>
