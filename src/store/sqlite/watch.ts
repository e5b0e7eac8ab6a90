import type { DatabaseSync } from 'node:sqlite'
import { Hints } from '../hints.ts'
import type { Hint } from '../store.ts'
import { pragma } from './open.ts'

const POLL_MS = 100

/** Hints about commits of other processes to the same file: polls `data_version` while there are listeners. */
export function watchedHints(db: DatabaseSync): Hints {
  const newLogs = db.prepare(
    `SELECT 'log' AS kind, c.tenant, c.conversation, max(e.seq) AS seq
     FROM events e JOIN conversations c ON c.id = e.conversation_id WHERE e.id > ? GROUP BY c.id`,
  )
  const newTexts = db.prepare(`SELECT 'text' AS kind, tenant, conversation FROM live WHERE id > ?`)
  const newest = db.prepare('SELECT (SELECT max(id) FROM events) AS event, (SELECT max(id) FROM live) AS text')
  const head = (): { event: number; text: number } => {
    const row = newest.get()
    return { event: Number(row?.['event'] ?? 0), text: Number(row?.['text'] ?? 0) }
  }
  let timer: NodeJS.Timeout | undefined
  let seen = { event: 0, text: 0 }
  let version: unknown

  const look = (): void => {
    // Within our own transaction there is nothing new to see; the next look sees it.
    if (!db.isOpen || db.isTransaction || pragma(db, 'data_version') === version) return
    const next = pragma(db, 'data_version')
    const newest = head()
    const rows = [...newLogs.all(seen.event), ...newTexts.all(seen.text)]
    version = next
    seen = newest
    for (const row of rows) hints.publish({ ...row } as unknown as Hint)
  }
  /** A failed look is repeated; the next read or write reports why. */
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
