import type { DatabaseSync } from 'node:sqlite'
import { Hints } from '../hints.ts'
import type { Hint } from '../store.ts'
import { pragma } from './open.ts'
import { refOf } from './queries.ts'

const POLL_MS = 100

/** Hints about commits of other processes to the same file: polls `data_version` while there are listeners. */
export function watchedHints(db: DatabaseSync): Hints {
  const newLogs = db.prepare(
    `SELECT c.tenant, c.conversation, max(e.seq) AS seq
     FROM events e JOIN conversations c ON c.id = e.conversation_id WHERE e.id > ? GROUP BY c.id`,
  )
  const newTexts = db.prepare('SELECT tenant, conversation FROM live WHERE id > ?')
  const newest = db.prepare('SELECT (SELECT max(id) FROM events) AS event, (SELECT max(id) FROM live) AS text')
  const head = (): { event: number; text: number } => {
    const row = newest.get()
    return { event: Number(row?.['event'] ?? 0), text: Number(row?.['text'] ?? 0) }
  }
  let timer: NodeJS.Timeout | undefined
  let seen = { event: 0, text: 0 }
  let version: unknown

  const look = (): void => {
    // Not within our own transaction: the next poll sees the changes.
    if (!db.isOpen || db.isTransaction) return
    if (pragma(db, 'data_version') === version) return
    const next = pragma(db, 'data_version')
    const newest = head()
    const found: Hint[] = [
      ...newLogs.all(seen.event).map(row => ({ ...refOf(row), kind: 'log' as const, seq: Number(row['seq']) })),
      ...newTexts.all(seen.text).map(row => ({ ...refOf(row), kind: 'text' as const })),
    ]
    version = next
    seen = newest
    for (const hint of found) hints.publish(hint)
  }
  /** A failed poll is repeated; the next read or write reports the reason. */
  const poll = (): void => {
    try {
      look()
    } catch {
      version = undefined
    }
  }
  const hints = new Hints(
    () => {
      version = pragma(db, 'data_version')
      seen = head()
      timer = setInterval(poll, POLL_MS).unref()
    },
    () => clearInterval(timer),
  )
  return hints
}
