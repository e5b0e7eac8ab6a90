import type { DatabaseSync } from 'node:sqlite'
import { Hints } from '../hints.ts'
import type { Hint } from '../store.ts'
import { pragma } from './open.ts'

const LOOK_EVERY_MS = 100

/** Notices what other processes commit to the same file: a cheap look ten times a second, while anybody listens. */
export function watchedHints(db: DatabaseSync): Hints {
  const changed = db.prepare(
    `SELECT tenant, conversation, seq FROM conversations WHERE changed > ?1
     UNION SELECT l.tenant, l.conversation, ifnull(c.seq, 0)
     FROM live l LEFT JOIN conversations c USING (tenant, conversation) WHERE l.changed > ?1`,
  )
  const newest = db.prepare(
    'SELECT max(ifnull((SELECT max(changed) FROM conversations), 0), ifnull((SELECT max(changed) FROM live), 0)) AS changed',
  )
  const head = (): number => Number(newest.get()?.['changed'] ?? 0)
  let timer: NodeJS.Timeout | undefined
  let seen = 0
  let version: unknown

  const look = (): void => {
    // Within a transaction of our own there is nothing new to see, and the look after it will see it.
    if (!db.isOpen || db.isTransaction || pragma(db, 'data_version') === version) return
    version = pragma(db, 'data_version')
    const since = seen
    seen = head()
    for (const hint of changed.all(since)) hints.publish({ ...hint } as unknown as Hint)
  }
  const hints = new Hints(
    () => {
      version = pragma(db, 'data_version')
      seen = head()
      timer = setInterval(look, LOOK_EVERY_MS).unref()
    },
    () => clearInterval(timer),
  )
  return hints
}
