// A process that drives turns until it is killed, or kills or freezes itself at a commit.
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { mcpTools } from '../../src/engine/turn/mcp-tools.ts'
import { configuredModels } from '../../src/models/models.ts'
import { givenTools } from '../../src/engine/worker/outside.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type EndAt, endingAt, freeze } from './ending.ts'
import { guardedTools, outsideTools } from './turn-story.ts'

export interface TurnChildOrder {
  readonly store: 'sqlite' | 'postgres'
  /** The database, or the URL. */
  readonly at: string
  readonly model: string
  readonly provider: string
  readonly tools: string
  /** An MCP server with further tools, called `far`. */
  readonly mcp?: string
  /** A person has to allow each call of the tools. */
  readonly isGuarded?: boolean
  readonly leaseMs: number
  readonly endAt?: EndAt
  /** Freezes before the first call of the worker, or of the assessor. */
  readonly freezesBefore?: 'ask' | 'judge'
  /** Serves HTTP with these tokens. */
  readonly tokens?: { readonly person: string; readonly agent: string }
}

const order = JSON.parse(process.argv[2] ?? '{}') as TurnChildOrder
const { store: kind, at, endAt } = order
const store = kind === 'sqlite' ? await openSqliteStore({ path: at }) : await openPostgresStore({ url: at })
const door = openDoor({ store })
if (endAt) endingAt(door, endAt)
const tools = order.isGuarded ? guardedTools : outsideTools
const outside = order.mcp ? far(order.mcp) : givenTools(tools(order.tools))
if (order.freezesBefore) freezing(order.freezesBefore)
const onError = (error: unknown): void => void writeSync(1, `error ${String(error)}\n`)
const models = await configuredModels({ model: order.model, url: order.provider, key: 'k' })
const runner = new Worker({
  door,
  models,
  leaseMs: order.leaseMs,
  retryMs: 1,
  outside,
  onError,
})
if (order.tokens) {
  // Loaded where it is needed: most of these processes answer no HTTP, and all of them are started often.
  const [{ createHttpServer }, { pino }] = await Promise.all([
    import('../../src/server/http/server.ts'),
    import('pino'),
  ])
  const server = createHttpServer({
    door,
    tokens: order.tokens,
    tenant: 'local',
    version: '0',
    log: pino({ level: 'silent' }),
    turns: { names: models.names, defaultName: models.defaultName, take: (ref, turn) => void runner.take(ref, turn) },
  })
  writeSync(1, `url ${(await server.listen(0, '127.0.0.1')).href}\n`)
}
runner.start()
let size = 0
setInterval(() => {
  if (runner.size !== size) writeSync(1, `drives ${(size = runner.size)}\n`)
}, 20)
// After waking up, report again even if nothing changed.
process.on('SIGCONT', () => {
  size = -1
})
// Node keeps what it compiled on exit only, and this process may be killed.
flushCompileCache()
writeSync(1, 'ready\n')

function far(url: string): ReturnType<typeof mcpTools> {
  return mcpTools({ servers: { far: { url } }, version: '0', onError: (_, error) => onError(error) })
}

/** Freezes once the last thing is read that the first call of the worker, or of the assessor, needs. */
function freezing(before: 'ask' | 'judge'): void {
  let isFirst = true
  const read = <T>(value: T): T => {
    if (isFirst) freeze(`before ${before}`, 'SIGSTOP')
    isFirst = false
    return value
  }
  const { conversations } = door
  const list = outside.list.bind(outside)
  const events = conversations.events.bind(conversations)
  if (before === 'ask') outside.list = async () => read(await list())
  else {
    conversations.events = async (ref, filter) =>
      filter.task === undefined ? events(ref, filter) : read(await events(ref, filter))
  }
}
