import type { Hint, LiveText } from '../store.ts'
import type { Connections } from './connections.ts'
import { SCHEMA } from './schema.ts'

export function postgresLive(database: Connections, onWritten: (hint: Hint) => void): LiveText {
  return {
    write: async ({ tenant, conversation }, { turn_id, message_id, text }) => {
      // JSON, because text that is still growing may end in a lone surrogate.
      const entry = JSON.stringify({ turn_id, message_id, text })
      await database.write(SQL.put, [tenant, conversation, entry])
      onWritten({ tenant, conversation, kind: 'text' })
    },
    read: async ({ tenant, conversation }) => {
      const [row] = await database.query<{ entry: string }>(SQL.get, [tenant, conversation])
      return row && JSON.parse(row.entry)
    },
    clear: async ({ tenant, conversation }) => {
      await database.write(SQL.remove, [tenant, conversation])
    },
  }
}

const SQL = {
  put: `INSERT INTO ${SCHEMA}.live (tenant, conversation, entry) VALUES ($1, $2, $3)
      ON CONFLICT (tenant, conversation) DO UPDATE SET entry = excluded.entry, changed_at = excluded.changed_at`,
  get: `SELECT entry FROM ${SCHEMA}.live WHERE tenant = $1 AND conversation = $2`,
  remove: `DELETE FROM ${SCHEMA}.live WHERE tenant = $1 AND conversation = $2`,
}
