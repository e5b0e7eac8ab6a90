// A process that writes to a store until it is told to stop, or is killed. Each acknowledged write is one line on stdout.
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import type { StoredEvent } from '../../src/core/model/event.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import type { Store } from '../../src/store/store.ts'

export interface WriterOrder {
  readonly store: 'sqlite' | 'json' | 'postgres'
  /** The database, the data folder, or the URL. */
  readonly at: string
  readonly conversation: string
  /** The numbers to write: one message and one key each. */
  readonly from: number
  readonly to: number
  /** Concurrent writes. */
  readonly abreast?: number
  /** Kills or freezes itself the nth time this point is reached. */
  readonly dieAt?: { readonly point: string; readonly nth: number; readonly signal?: 'SIGKILL' | 'SIGSTOP' }
  /** Creates tasks instead of messages, so that files change. */
  readonly tasks?: boolean
  /** Adds a message of that many characters, and live text, to each write. */
  readonly bulk?: number
}

const order = JSON.parse(process.argv[2] ?? '{}') as WriterOrder
let reached = 0
const onFaultPoint = (point: string): void => {
  if (point !== order.dieAt?.point) return
  reached += 1
  if (reached !== order.dieAt.nth) return
  writeSync(1, `at ${point}\n`)
  process.kill(process.pid, order.dieAt.signal ?? 'SIGKILL')
  // A signal takes a moment: nothing may follow meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
}

const door = openDoor({ store: await open() })
const ref = { tenant: 'local', conversation: order.conversation }
await door.run(ref, { type: 'open_turn', turn_id: 't1', host: { toolset: 'task_list' } })
// Node keeps what it compiled on exit only, and this process may be killed.
flushCompileCache()
writeSync(1, 'ready\n')

let next = order.from
const lane = async (): Promise<void> => {
  for (let number = next++; number < order.to; number = next++) await written(number)
}
await Promise.all(Array.from({ length: order.abreast ?? 1 }, lane))
await door.close()
writeSync(1, 'done\n')

/** A store that is busy has written nothing: where many processes write, a caller tries again. */
async function written(number: number): Promise<void> {
  for (;;) {
    try {
      return await write(number)
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'busy') throw error
    }
  }
}

async function write(number: number): Promise<void> {
  if (order.bulk) await door.liveText.write(ref, { turn_id: 't1', message_id: 'm', text: `${number}` })
  const once = { key: `w${number}`, bodyHash: String(number) }
  const committed = await door.transact({ ...ref, once }, transaction => {
    const events: StoredEvent[] = order.tasks
      ? [
          ...transaction.mustRun({
            type: 'edit_tasks',
            by: 'model',
            turn_id: 't1',
            create: [{ id: door.newId(), title: `task ${number}` }],
          }),
          // Settled at once, so that few tasks are open.
          ...transaction.mustRun({
            type: 'edit_tasks',
            by: 'model',
            turn_id: 't1',
            change: [{ task: transaction.state.last_number, fields: { status: 'completed', outcome: 'Done.' } }],
          }),
        ]
      : [
          ...transaction.mustRun({
            type: 'record',
            turn_id: 't1',
            fact: { type: 'message_added', data: { message_id: `m${number}`, role: 'assistant', text: `w${number}` } },
          }),
        ]
    if (order.bulk) {
      const data = { message_id: 'x'.repeat(order.bulk), role: 'system', text: 'w' } as const
      transaction.mustRun({ type: 'record', turn_id: 't1', fact: { type: 'message_added', data } })
    }
    return events[0]?.seq ?? 0
  })
  writeSync(1, `ack ${number} ${committed.value}\n`)
}

async function open(): Promise<Store> {
  switch (order.store) {
    case 'sqlite':
      return openSqliteStore({ path: order.at, onFaultPoint })
    case 'json':
      return openFileStore({ data: order.at, onFaultPoint })
    case 'postgres': {
      const { openPostgresStore } = await import('../../src/store/postgres/store.ts')
      return openPostgresStore({ url: order.at, onFaultPoint })
    }
  }
}
