// A process that serves HTTP, drives turns and runs checks, until it is killed, or kills or freezes itself at a commit.
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { pino } from 'pino'
import { openDoor } from '../../src/engine/door/door.ts'
import { createHttpServer } from '../../src/server/http/server.ts'
import { configuredModels } from '../../src/models/models.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type EndAt, endingAt } from './ending.ts'
import { HOST, type Place, workspacesIn } from './claim-place.ts'

export interface ClaimChildOrder extends Place {
  readonly store: 'sqlite' | 'postgres'
  /** The database, or the URL. */
  readonly at: string
  readonly model: string
  readonly provider: string
  readonly leaseMs: number
  readonly tokens: { readonly person: string; readonly agent: string }
  readonly endAt?: EndAt
  readonly waitMs?: number
  /** Whether it also drives turns. Default: it does. */
  readonly drives?: boolean
}

const order = JSON.parse(process.argv[2] ?? '{}') as ClaimChildOrder
const { store: kind, at, endAt, leaseMs, tokens, waitMs } = order
const store = kind === 'sqlite' ? await openSqliteStore({ path: at }) : await openPostgresStore({ url: at })
const workspaces = workspacesIn(order)
const door = openDoor({ store, checks: workspaces })
if (endAt) endingAt(door, endAt)
const onError = (error: unknown): void => void writeSync(1, `error ${String(error)}\n`)
const models = await configuredModels({ model: order.model, url: order.provider, key: 'k' })
const drives = order.drives === false ? {} : { models, retryMs: 1 }
const runner = new Worker({ door, leaseMs, workspaces, onError, ...drives })
const server = createHttpServer({
  door,
  tokens,
  tenant: 'local',
  version: '0',
  host: HOST,
  log: pino({ level: 'silent' }),
  ...(waitMs === undefined ? {} : { reviewWaitMs: waitMs }),
  turns: { names: models.names, defaultName: models.defaultName, take: (ref, turn) => void runner.take(ref, turn) },
})
writeSync(1, `url ${(await server.listen(0, '127.0.0.1')).href}\n`)
runner.start()
let size = -1
setInterval(() => {
  if (runner.size !== size) writeSync(1, `works ${(size = runner.size)}\n`)
}, 20)
// After waking up, report again even if nothing changed.
process.on('SIGCONT', () => {
  size = -1
})
process.once('SIGTERM', () => {
  void Promise.all([server.close(100), runner.close()])
    .then(() => door.close())
    .then(() => process.exit(0))
})
// Node keeps what it compiled on exit only, and this process may be killed.
flushCompileCache()
writeSync(1, 'ready\n')
