import type { Notices, TakenNotice } from '../store.ts'
import type { Connections } from './connections.ts'
import { NOW } from './leases.ts'
import { SCHEMA } from './schema.ts'

/** One process at a time takes each notice. Compared with the database's clock. */
export function postgresNotices(database: Connections, skewMs: () => number): Notices {
  return {
    want: async (tenant, forMs) => {
      await database.write(SQL.want, [skewMs(), tenant, forMs])
    },
    take: (tenant, limit, forMs) => database.write<TakenNotice>(SQL.take, [skewMs(), tenant, limit, forMs]),
    settle: async ({ tenant, conversation, seq, tries }, retryInMs) => {
      const one = [tenant, conversation, seq, tries]
      const settled = await (retryInMs === undefined
        ? database.write(SQL.remove, one)
        : database.write(SQL.retry, [skewMs(), retryInMs, ...one]))
      return settled.length > 0
    },
    waiting: async tenant => {
      const [row] = await database.query<{ count: number; due: number }>(SQL.waiting, [skewMs(), tenant])
      return row && row.count > 0 ? { count: row.count, dueInMs: row.due } : { count: 0 }
    },
  }
}

const SQL = {
  want: `INSERT INTO ${SCHEMA}.notices_wanted (tenant, until) VALUES ($2, ${NOW} + $3::float8 * interval '1 millisecond')
      ON CONFLICT (tenant) DO UPDATE SET until = excluded.until RETURNING 1`,
  take: `WITH due AS MATERIALIZED (
        SELECT tenant, conversation, seq FROM ${SCHEMA}.notices WHERE tenant = $2 AND due_at <= ${NOW}
        ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
      )
      UPDATE ${SCHEMA}.notices AS n SET tries = n.tries + 1, due_at = ${NOW} + $4::float8 * interval '1 millisecond'
      FROM due WHERE (n.tenant, n.conversation, n.seq) = (due.tenant, due.conversation, due.seq)
      RETURNING n.tenant, n.conversation, n.seq, n.tries`,
  remove: `DELETE FROM ${SCHEMA}.notices WHERE tenant = $1 AND conversation = $2 AND seq = $3 AND tries = $4 RETURNING 1`,
  retry: `UPDATE ${SCHEMA}.notices SET due_at = ${NOW} + $2::float8 * interval '1 millisecond'
      WHERE tenant = $3 AND conversation = $4 AND seq = $5 AND tries = $6 RETURNING 1`,
  // An infinity would not convert to milliseconds.
  waiting: `SELECT count(*)::int AS count,
        extract(epoch FROM greatest(min(due_at), ${NOW}) - ${NOW})::float8 * 1000 AS due
      FROM ${SCHEMA}.notices WHERE tenant = $2`,
}
