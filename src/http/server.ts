import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Logger } from 'pino'
import type { PolicyPatch } from '../domain/policy.ts'
import type { LiveEntry, Ref, Door } from '../door/door.ts'
import { createApp, failed } from './app.ts'
import { Credentials, LoginCodes, type Role } from './credentials.ts'
import { Limits } from './limits.ts'
import { Metrics } from './metrics.ts'
import { withOpenApi } from './openapi.ts'
import { hostOf, Origins } from './origins.ts'
import type { Page } from './page.ts'
import type { Desk, Mcp, Route, Turns } from './route.ts'
import { chatRoutes } from './routes/chat.ts'
import { loginRoutes } from './routes/login.ts'
import { probeRoutes } from './routes/probes.ts'
import { reviewRoutes } from './routes/reviews.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { taskRoutes } from './routes/tasks.ts'
import { templateRoutes } from './routes/templates.ts'
import { toolsetRoutes } from './routes/toolsets.ts'
import { Streams } from './sse/streams.ts'

export interface ServerOptions {
  readonly door: Door
  readonly tenant: string
  readonly tokens: Readonly<Record<Role, string>>
  readonly log: Logger
  readonly version: string
  readonly page?: Page
  readonly turns?: Turns
  readonly mcp?: Mcp
  /** What new conversations get. */
  readonly host?: PolicyPatch
  /** Where it is reached behind a proxy. */
  readonly publicUrl?: URL
  readonly agentWritesPerMinute?: number
  readonly maxStreams?: number
  readonly reviewWaitMs?: number
  readonly heartbeatMs?: number
}

export interface HttpServer {
  /** Resolves with where it listens; rejects, say, with EADDRINUSE. */
  listen(port: number, host: string): Promise<URL>
  /** Where it listens, whatever its public name. */
  local(): URL
  /** A fresh single-use code for the page. */
  loginCode(): string
  /** Text as a step that runs here writes it. */
  showText(ref: Ref, text: LiveEntry): void
  /** Requests and streams that are under way, and when the last one ended: for who ends when nobody is there. */
  activity(): { readonly underWay: number; readonly lastAt: number }
  /** Takes no more, ends the streams, lets what is under way finish for so long, and then cuts. */
  close(withinMs: number): Promise<void>
}

/** How many follow at once, before the next is told to come back. */
const MOST_STREAMS = 2_000
const AGENT_WRITES_PER_MINUTE = 600
/** Short of what clients wait for an answer. */
const REVIEW_WAIT_MS = 25_000

export const ROUTES: readonly Route[] = [
  ...chatRoutes,
  ...sessionRoutes,
  ...taskRoutes,
  ...reviewRoutes,
  ...templateRoutes,
  ...toolsetRoutes,
  ...loginRoutes,
  ...probeRoutes,
]

export function createHttpServer(options: ServerOptions): HttpServer {
  const { door, tokens, log, publicUrl } = options
  const closing = new AbortController()
  const codes = new LoginCodes()
  const origins = new Origins()
  const streams = new Streams({
    door,
    most: options.maxStreams ?? MOST_STREAMS,
    onError: error => log.warn({ err: error }, 'a stream ended'),
    ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
  })
  door.servesPage()
  const metrics = new Metrics(streams, door.reviews)
  const stopObserving = door.observe(call => metrics.call(call))
  const desk: Desk = {
    door,
    streams,
    metrics,
    codes,
    tokens,
    models: (options.turns?.names ?? []).map(name => ({ name, default: name === options.turns?.usual })),
    turns: options.turns,
    host: options.host ?? {},
    reviewWaitMs: options.reviewWaitMs ?? REVIEW_WAIT_MS,
    closing: closing.signal,
  }
  const app = createApp({
    desk,
    routes: withOpenApi(ROUTES, options.version),
    credentials: new Credentials(tokens, options.tenant),
    origins,
    limits: new Limits(options.agentWritesPerMinute ?? AGENT_WRITES_PER_MINUTE),
    page: options.page ?? (() => undefined),
    mcp: options.mcp,
    log,
  })
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // What cannot even be routed, such as a Host that is no name.
    errorHandler: error => {
      const { status, headers, body } = failed(error, log, { route: 'none' })
      return new Response(body, { status, headers })
    },
  })
  const server = createServer(listener)
  let local = new URL('http://127.0.0.1/')
  let underWay = 0
  let lastAt = performance.now()
  server.on('request', (_, response) => {
    underWay += 1
    response.once('close', () => {
      underWay -= 1
      lastAt = performance.now()
    })
    // A connection that answered while we end is idle from now on, and nothing else would close it.
    response.once('finish', () => {
      if (closing.signal.aborted) server.closeIdleConnections()
    })
  })
  return {
    listen: async (port, host) => {
      const { port: actual } = await listening(server, port, host)
      origins.listenOn(host, actual, publicUrl)
      local = new URL(`http://${shownHost(host)}:${actual}/`)
      return publicUrl ?? local
    },
    local: () => local,
    loginCode: () => codes.issue(),
    showText: (ref, text) => streams.showText(ref, text),
    activity: () => ({ underWay, lastAt }),
    close: async withinMs => {
      closing.abort()
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      streams.close()
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), withinMs)
      await closed
      clearTimeout(cut)
      stopObserving()
    },
  }
}

function listening(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

/** An address that stands for all of them is no address to open. */
const shownHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : hostOf(host))
