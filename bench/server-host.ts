import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setImmediate as tick, setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { fold } from '../src/core/model/conversation.ts'
import { framed, framedTodos } from '../src/server/http/frames.ts'
import { Metrics } from '../src/server/http/metrics.ts'
import { createHttpServer } from '../src/server/http/server.ts'
import { openDoor, type Door } from '../src/engine/door/door.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { Store } from '../src/store/store.ts'
import { beginCall, callTool } from '../src/engine/toolsets/calls.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { change, planned, refOf } from './plan.ts'
import { busyMeter, nowMs, serveParent, settledMemory, startedWith } from './server-process.ts'

// One server in its own process: ours, or a bare node:http that sends the same bytes and takes the same calls.
export interface HostOrder {
  /** `joined` is bare, too, but batches the writes of one tick. */
  readonly kind: 'ours' | 'bare' | 'joined'
  readonly store: 'memory' | 'sqlite'
}
export interface Listening {
  readonly port: number
  readonly token: string
  readonly path: string
}

const WATCHED = 'watched'
const TASKS = 5
const TOKENS = { person: 'token-of-a-person', agent: 'token-of-an-agent' } as const

const order = startedWith() as HostOrder
const folder = scratchFolder()
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const asked = new Map<string, number>()
const door = openDoor({
  store: counted(order.store === 'memory' ? openMemoryStore() : await openSqliteStore({ path: join(folder, 'a.db') })),
})
const ref = await planned(door, WATCHED, TASKS)
const busy = busyMeter()
const { port, path, event } = order.kind === 'ours' ? await ours() : await bare(order.kind)

serveParent({
  listening: (): Listening => ({ port, path, token: TOKENS.agent }),
  burst: async (count: number) => {
    const start = nowMs()
    for (let index = 0; index < count; index += 1) await event()
    return start
  },
  /** Commits events at a fixed rate; returns when each was committed. */
  steady: async ({ count, everyMs }: { count: number; everyMs: number }) => {
    const start = nowMs()
    const committed: number[] = []
    for (let index = 0; index < count; index += 1) {
      await sleep(Math.max(0, start + index * everyMs - nowMs()))
      committed.push(await event())
    }
    return committed
  },
  /** CPU microseconds so far. */
  work: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  memory: settledMemory,
  idle: async (ms: number) => {
    busy()
    asked.clear()
    await sleep(ms)
    const looks = asked.get('due') ?? 0
    // The clock is read together with the next deadline.
    const clock = asked.get('now') ?? 0
    const all = [...asked.values()].reduce((sum, count) => sum + count, 0)
    return { busy: busy(), looks, others: all - looks - clock }
  },
  plans,
})

async function ours(): Promise<{ port: number; path: string; event: () => Promise<number> }> {
  const server = createHttpServer({
    door,
    tokens: TOKENS,
    tenant: 'local',
    version: '0.0.0',
    log: pino({ level: 'info' }, pino.destination({ dest: 2, sync: true })),
    metrics: new Metrics(door),
    agentWritesPerMinute: 1e9,
    agentReadsPerMinute: 1e9,
  })
  const url = await server.listen(0, '127.0.0.1')
  const { seq } = await door.read(ref)
  let round = 0
  return {
    port: Number(url.port),
    path: `/api/sessions/${WATCHED}/events?last_event_id=${seq}`,
    event: async () => {
      await door.run(ref, change((round += 1)))
      return nowMs()
    },
  }
}

async function bare(kind: 'bare' | 'joined'): Promise<{ port: number; path: string; event: () => Promise<number> }> {
  const readers = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void answer(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.write(':\n\n')
    readers.add(response)
    response.once('close', () => readers.delete(response))
  })
  const at = await new Promise<AddressInfo>(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(server.address() as AddressInfo))
  })
  const frames = await recorded(openDoor({ store: openMemoryStore() }), 100)
  let round = 0
  let due: string[] = []
  const flush = (): void => {
    const chunk = Buffer.from(due.join(''))
    due = []
    for (const reader of readers) reader.write(chunk)
  }
  return {
    port: at.port,
    path: '/',
    event: async () => {
      const frame = frames[(round += 1) % frames.length] ?? ''
      const now = nowMs()
      if (kind === 'joined') {
        if (due.length === 0) setImmediate(flush)
        due.push(frame)
      } else {
        for (const reader of readers) reader.write(frame)
        await tick()
      }
      return now
    },
  }
}

async function recorded(door: Door, count: number): Promise<string[]> {
  const ref = await planned(door, WATCHED, TASKS)
  let state = await door.read(ref)
  const frames: string[] = []
  for (let round = 0; round < count; round += 1) {
    const { events } = await door.run(ref, change(round))
    state = fold(state, events)
    frames.push(events.map(event => framed(event, 'person')).join('') + framedTodos(state))
  }
  await door.close()
  return frames
}

/** A tool call without a server: no credentials, checks, limits or metrics. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const {
    session_id,
    turn_id,
    arguments: input,
  } = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>
  const taken = await beginCall(toolsets.task_list, 'AddTask', input, {
    door,
    tenant: 'local',
    conversation: session_id ?? '',
    turn: turn_id ?? '',
  })
  const body = JSON.stringify({ result: 'result' in taken ? taken.result : null })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
}

/** Makes calls, each in its own conversation; they are answered at once or wait for a review. */
async function plans({ count, review }: { count: number; review: boolean }): Promise<void> {
  const host = { review, review_timeout_ms: 3_600_000 }
  const toolset = toolsets.task_manager
  const input = { tasks: [{ title: 'Look at the reports' }, { title: 'Write down what is missing' }] }
  for (let made = 0; made < count; made += 100) {
    const calls = Array.from({ length: 100 }, (_, index) => {
      const { conversation, tenant } = refOf(`plan-${review}-${made + index}`)
      return { door, tenant, conversation, turn: 't1', toolCallId: 'call-1', host }
    })
    await Promise.all(calls.map(context => beginCall(toolset, 'add_task', input, context)))
    // A repeated call gets the same answer, or keeps waiting.
    for (const context of calls) void callTool(toolset, 'add_task', input, context)
  }
  await sleep(500)
}

function counted(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...argumentsOf: unknown[]): unknown => {
        asked.set(String(name), (asked.get(String(name)) ?? 0) + 1)
        return Reflect.apply(member, target, argumentsOf)
      }
    },
  })
}
