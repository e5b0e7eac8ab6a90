// A process that claims, renews and releases leases, then commits once. It says what it is at.
import { writeSync } from 'node:fs'
import { openDoor } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'

const { path, leases } = JSON.parse(process.argv[2] ?? '{}') as { path: string; leases: number }
const at = { tenant: 'local', conversation: 'c1' }
const door = openDoor({ store: await openSqliteStore({ path }), readOnly: true })
await door.run(at, { type: 'start_turn', turn_id: 't1', message_id: 'm1', message: 'Do it.', model: 'x' })
writeSync(1, 'leases\n')
for (let count = 0; count < leases; count += 1) {
  const lease = await door.turns.claim('r1', 60_000, { abilities: ['drive'] })
  if (!lease || !(await door.turns.renew(lease, 60_000))) throw new Error('There is no lease.')
  await door.turns.release(lease)
}
writeSync(1, 'commit\n')
await door.run(at, { type: 'stop_turn', turn_id: 't1' })
writeSync(1, 'over\n')
await door.close()
