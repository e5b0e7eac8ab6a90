// A program that only waits for a review.
import { openDoor } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { BY_PLAN } from './asked-by.ts'

const { path } = JSON.parse(process.argv[2] ?? '{}') as { path?: string }
const door = openDoor({ store: path ? await openSqliteStore({ path }) : openMemoryStore() })
await door.run(
  { tenant: 'local', conversation: 'chat' },
  {
    type: 'start_turn',
    turn_id: 't1',
    message_id: 'm1',
    message: 'Do it',
    model: 'none',
    policy: { review_timeout_ms: 400 },
  },
  {
    type: 'edit_tasks',
    by: 'model',
    turn_id: 't1',
    create: [{ id: door.newId(), title: 'a' }],
    review: { ...BY_PLAN, review_id: 'rev-1', tool_call_id: 'call-1' },
  },
)
const { resolution } = await door.reviews.await('local', 'rev-1')
process.stdout.write(`${resolution?.reason}\n`)
// Not closed: a finished program may just end.
