import { randomBytes } from 'node:crypto'
import type { Connections } from './connections.ts'
import { SCHEMA } from './schema.ts'

/** Incompressible, so that it takes new pages. */
const ROOM_BYTES = 1 << 20

/**
 * Proves that writes work, using a key of no tenant that is never read. `room` first writes a large value, which the
 * small one then replaces.
 */
export async function probe(database: Connections, room: boolean): Promise<void> {
  if (room) await database.write(PUT, [randomBytes(ROOM_BYTES / 2).toString('hex')])
  await database.write(PUT, [''])
}

const PUT = `INSERT INTO ${SCHEMA}.keys (tenant, conversation, key, body_hash, value) VALUES ('', '', 'probe', '', $1)
    ON CONFLICT (tenant, conversation, key) DO UPDATE SET value = excluded.value`
