import { pino } from 'pino'
import { inject } from 'vitest'
import { Metrics } from '../../src/server/http/metrics.ts'
import type { ServerSettings } from '../../src/server/http/route.ts'
import { createHttpServer, type HttpServer, type ServerOptions } from '../../src/server/http/server.ts'
import { type Client, createClient } from '../../src/client/client.ts'
import { openDoor, type Door } from '../../src/engine/door/door.ts'
import { settingsScene } from './settings.ts'
import { toolsPart } from './tools.ts'
import { placeFor, type StoreKind } from './stores.ts'

export const TOKENS = {
  person: 'a-token-of-a-person-who-reviews-plans',
  agent: 'a-token-of-an-agent-that-makes-plans',
} as const

/** For tests: a real server on a free port, with a client for each role, and the door behind it. */
export interface TestServer {
  readonly url: URL
  readonly server: HttpServer
  readonly door: Door
  /** Its settings, in a folder of their own. */
  readonly settings: ServerSettings
  readonly person: Client
  readonly agent: Client
  /** The log as text. */
  readonly logged: () => string
  /** A plain request with the token of `as`. */
  readonly ask: (method: string, path: string, options?: AskOptions) => Promise<Response>
  readonly close: () => Promise<void>
}
export interface AskOptions {
  readonly as?: keyof typeof TOKENS | 'nobody'
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export async function startServer(options: Partial<ServerOptions> & { store?: StoreKind } = {}): Promise<TestServer> {
  // The page uses what the memory store does not have.
  const { store: kind = options.page ? 'sqlite' : 'memory', ...more } = options
  const place = await placeFor(kind, kind === 'postgres' ? inject('postgresUrl') : '')
  const door = options.door ?? openDoor({ store: await place.open() })
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: line => void lines.push(line) })
  const scene = settingsScene()
  const server = createHttpServer({
    tokens: TOKENS,
    tenant: 'local',
    version: '0.0.0',
    log,
    metrics: new Metrics(door),
    settings: scene.part,
    tools: toolsPart(),
    ...more,
    door,
  })
  const url = await server.listen(0, '127.0.0.1')
  return {
    url,
    server,
    door,
    settings: scene.part,
    person: createClient({ url, token: TOKENS.person }),
    agent: createClient({ url, token: TOKENS.agent }),
    logged: () => lines.join(''),
    ask: (method, path, { as = 'person', body, headers = {} } = {}) =>
      fetch(new URL(path, url), {
        method,
        headers: {
          ...(as === 'nobody' ? {} : { authorization: `Bearer ${TOKENS[as]}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    close: async () => {
      await server.close(1_000)
      await door.close()
      await place.remove()
      scene.remove()
    },
  }
}
