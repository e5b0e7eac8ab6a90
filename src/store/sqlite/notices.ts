import type { DatabaseSync } from 'node:sqlite'
import { isTold } from '../../core/views/notice.ts'
import { type Instant, plusMs } from '../../core/model/instant.ts'
import { type Commit, eventsOf } from '../commit.ts'
import type { Notices, Ref, TakenNotice } from '../store.ts'
import type { Read } from './queries.ts'

/** `add` is part of the transaction that commits the events. */
export interface SqliteNotices extends Notices {
  add(ref: Ref, commits: readonly Commit[]): void
}

export function sqliteNotices(
  db: DatabaseSync,
  read: Read,
  write: <T>(change: () => T) => Promise<T>,
  now: () => Instant,
): SqliteNotices {
  const sql = statements(db)
  return {
    add: ({ tenant, conversation }, commits) => {
      const told = eventsOf(commits).filter(isTold)
      if (told[0] === undefined || !sql.wanted.get(tenant, told[0].timestamp)) return
      for (const { seq } of told) sql.add.run(tenant, conversation, seq)
    },
    want: (tenant, forMs) => write(() => void sql.want.run(tenant, plusMs(now(), forMs))),
    take: (tenant, limit, forMs) =>
      write(() => {
        const due = sql.due.all(tenant, now(), limit)
        const until = plusMs(now(), forMs)
        return due.map((row): TakenNotice => {
          const taken = {
            tenant,
            conversation: String(row['conversation']),
            seq: Number(row['seq']),
            tries: Number(row['tries']) + 1,
          }
          sql.put.run(until, taken.tries, tenant, taken.conversation, taken.seq, taken.tries - 1)
          return taken
        })
      }),
    settle: ({ tenant, conversation, seq, tries }, retryInMs) =>
      write(() => {
        const { changes } =
          retryInMs === undefined
            ? sql.remove.run(tenant, conversation, seq, tries)
            : sql.put.run(plusMs(now(), retryInMs), tries, tenant, conversation, seq, tries)
        return changes > 0
      }),
    waiting: async tenant =>
      read(() => {
        const row = sql.waiting.get(tenant)
        const due = row?.['due_at']
        const count = Number(row?.['count'])
        if (typeof due !== 'string') return { count }
        return { count, dueInMs: due === '' ? 0 : Math.max(0, Date.parse(due) - Date.parse(now())) }
      }),
  }
}

function statements(db: DatabaseSync) {
  const one = 'tenant = ? AND conversation = ? AND seq = ? AND tries = ?'
  return {
    add: db.prepare('INSERT OR IGNORE INTO notices (tenant, conversation, seq) VALUES (?, ?, ?)'),
    wanted: db.prepare('SELECT 1 FROM notices_wanted WHERE tenant = ? AND until > ?'),
    want: db.prepare('INSERT OR REPLACE INTO notices_wanted (tenant, until) VALUES (?, ?)'),
    due: db.prepare(
      'SELECT conversation, seq, tries FROM notices WHERE tenant = ? AND due_at <= ? ORDER BY due_at LIMIT ?',
    ),
    put: db.prepare(`UPDATE notices SET due_at = ?, tries = ? WHERE ${one}`),
    remove: db.prepare(`DELETE FROM notices WHERE ${one}`),
    waiting: db.prepare('SELECT count(*) AS count, min(due_at) AS due_at FROM notices WHERE tenant = ?'),
  }
}
