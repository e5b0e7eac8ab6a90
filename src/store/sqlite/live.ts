import type { DatabaseSync } from 'node:sqlite'
import type { LiveText, Ref } from '../store.ts'
import type { Read } from './queries.ts'

/** Live text. */
export function sqliteLive(
  db: DatabaseSync,
  read: Read,
  write: (change: () => unknown) => Promise<unknown>,
  onWrite: (ref: Ref) => void,
): LiveText {
  const put = db.prepare(
    'INSERT OR REPLACE INTO live (tenant, conversation, turn_id, message_id, text) VALUES (?, ?, ?, ?, ?)',
  )
  const get = db.prepare('SELECT turn_id, message_id, text FROM live WHERE tenant = ? AND conversation = ?')
  const remove = db.prepare('DELETE FROM live WHERE tenant = ? AND conversation = ?')
  return {
    write: async (ref, { turn_id, message_id, text }) => {
      await write(() => put.run(ref.tenant, ref.conversation, turn_id, message_id, text))
      onWrite(ref)
    },
    read: async ref => {
      const row = read(() => get.get(ref.tenant, ref.conversation))
      return (
        row && {
          turn_id: String(row['turn_id']),
          message_id: String(row['message_id']),
          text: String(row['text']),
        }
      )
    },
    clear: async ref => {
      await write(() => remove.run(ref.tenant, ref.conversation))
    },
  }
}
