import type { DatabaseSync } from 'node:sqlite'
import { EVENT_COLUMNS } from '../rows.ts'

export const SUMMED_COLUMNS = `${EVENT_COLUMNS}, sum`

export function reading(db: DatabaseSync) {
  return {
    version: db.prepare('PRAGMA data_version'),
    id: db.prepare('SELECT id FROM conversations WHERE tenant = ? AND conversation = ?'),
    head: db.prepare(
      `SELECT id, (SELECT max(seq) FROM events WHERE conversation_id = conversations.id) AS seq
       FROM conversations WHERE tenant = ? AND conversation = ?`,
    ),
    eventsAfter: db.prepare(
      `SELECT ${SUMMED_COLUMNS} FROM events WHERE conversation_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    snapshot: db.prepare('SELECT seq, state, sum FROM snapshots WHERE conversation_id = ? AND v = ?'),
    key: db.prepare('SELECT body_hash, value, sum FROM keys WHERE tenant = ? AND conversation = ? AND key = ?'),
    anyTurn: db.prepare('SELECT 1 FROM turns WHERE tenant = ? AND conversation = ? LIMIT 1'),
    attempt: db.prepare('SELECT attempt FROM turns WHERE tenant = ? AND conversation = ? AND turn = ?'),
  }
}

export function writing(db: DatabaseSync) {
  return {
    key: db.prepare('INSERT INTO keys (tenant, conversation, key, body_hash, value, sum) VALUES (?, ?, ?, ?, ?, ?)'),
    event: db.prepare(
      'INSERT INTO events (conversation_id, seq, v, type, turn_id, timestamp, data, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    conversation: db.prepare(
      `INSERT INTO conversations (tenant, conversation, created_at, title, active_at, pinned, archived, mark, row_sum)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    row: db.prepare(
      'SELECT title, created_at, active_at, pinned, archived, mark, row_sum AS sum FROM conversations WHERE id = ?',
    ),
    listed: db.prepare(
      `UPDATE conversations SET title = ?, active_at = ?, pinned = ?, archived = ?, mark = ?, row_sum = ? WHERE id = ?`,
    ),
    task: db.prepare(
      `INSERT INTO tasks (tenant, id, conversation_id, seq, created_at, removed) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET seq = excluded.seq, removed = excluded.removed
       WHERE conversation_id = excluded.conversation_id`,
    ),
    turn: db.prepare(
      `INSERT INTO turns (tenant, conversation, turn, status, needs) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET status = excluded.status, needs = excluded.needs`,
    ),
    review: db.prepare(
      `INSERT INTO reviews (tenant, id, conversation, pending, due_at, body, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET pending = excluded.pending, due_at = excluded.due_at, body = excluded.body, sum = excluded.sum
       WHERE conversation = excluded.conversation`,
    ),
    snapshot: db.prepare(
      'INSERT OR REPLACE INTO snapshots (conversation_id, seq, v, state, sum) VALUES (?, ?, ?, ?, ?)',
    ),
  }
}
