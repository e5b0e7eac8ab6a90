import type { DatabaseSync } from 'node:sqlite'
import type { LiveEntry, LiveText, Ref } from '../store.ts'
import { begin } from './open.ts'
import type { Read } from './queries.ts'

/** Live text, on a connection that does not flush: it is overwritten a moment later, and no loss if a power cut takes it. */
export function sqliteLive(db: DatabaseSync, read: Read, onWrite: (ref: Ref) => void): LiveText {
  const put = db.prepare(
    'INSERT OR REPLACE INTO live (tenant, conversation, turn_id, message_id, text) VALUES (?, ?, ?, ?, ?)',
  )
  const get = db.prepare('SELECT turn_id, message_id, text FROM live WHERE tenant = ? AND conversation = ?')
  const remove = db.prepare('DELETE FROM live WHERE tenant = ? AND conversation = ?')
  return {
    write: async (ref, { turn_id, message_id, text }) => {
      await begin(() => read(() => put.run(ref.tenant, ref.conversation, turn_id, message_id, text)))
      onWrite(ref)
    },
    read: async ref => {
      const row = read(() => get.get(ref.tenant, ref.conversation))
      return row && ({ ...row } as unknown as LiveEntry)
    },
    clear: async ref => {
      await begin(() => read(() => remove.run(ref.tenant, ref.conversation)))
    },
  }
}
