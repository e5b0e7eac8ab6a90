import type { DatabaseSync } from 'node:sqlite'
import { Hints } from '../hints.ts'
import type { Hint } from '../store.ts'
import { pragma } from './open.ts'

const LOOK_EVERY_MS = 100

/** Notices what other processes commit to the same file: a cheap look ten times a second, while anybody listens. */
export function watchedHints(db: DatabaseSync): Hints {
  const newEvents = db.prepare(
    'SELECT tenant, conversation, max(seq) AS seq FROM events WHERE id > ? GROUP BY tenant, conversation',
  )
  const newText = db.prepare(
    `SELECT tenant, conversation, ifnull(c.seq, 0) AS seq FROM live l LEFT JOIN conversations c USING (tenant, conversation)
     WHERE l.id > ?`,
  )
  const newest = db.prepare('SELECT (SELECT max(id) FROM events) AS event, (SELECT max(id) FROM live) AS text')
  const head = (): { event: number; text: number } => {
    const row = newest.get()
    return { event: Number(row?.['event'] ?? 0), text: Number(row?.['text'] ?? 0) }
  }
  let timer: NodeJS.Timeout | undefined
  let seen = { event: 0, text: 0 }
  let version: unknown

  const look = (): void => {
    // Within a transaction of our own there is nothing new to see, and the look after it will see it.
    if (!db.isOpen || db.isTransaction || pragma(db, 'data_version') === version) return
    const next = pragma(db, 'data_version')
    const newest = head()
    const rows = [...newEvents.all(seen.event), ...newText.all(seen.text)]
    version = next
    seen = newest
    for (const row of rows) hints.publish({ ...row } as unknown as Hint)
  }
  /** A look that fails is one that saw nothing: whoever reads or writes next is told why, and the next look looks again. */
  const lookOn = (): void => {
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
      timer = setInterval(lookOn, LOOK_EVERY_MS).unref()
    },
    () => clearInterval(timer),
  )
  return hints
}
