// A process that sends notices until it is killed.
import { writeSync } from 'node:fs'
import { openDoor } from '../../src/engine/door/door.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { WebhookSender } from '../../src/webhook/sender.ts'

export interface WebhookChildOrder {
  readonly store: 'sqlite' | 'postgres'
  /** The database, or the URL. */
  readonly at: string
  readonly url: string
  readonly leaseMs: number
}

const { store: kind, at, url, leaseMs } = JSON.parse(process.argv[2] ?? '{}') as WebhookChildOrder
const door = openDoor({
  store: await (kind === 'sqlite' ? openSqliteStore({ path: at }) : openPostgresStore({ url: at })),
})
const sender = new WebhookSender({
  door,
  tenant: 'local',
  settings: { url: new URL(url), key: Buffer.from('key'), hosts: new Set(['127.0.0.1']) },
  version: '0',
  timings: { leaseMs, pollMs: 50 },
  onError: error => void writeSync(1, `error ${String(error)}\n`),
})
sender.start()
// Keeps the process alive: the sender's own timers do not.
setInterval(() => {}, 1_000)
writeSync(1, 'ready\n')
