import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { redactor } from '../core/text/redact.ts'
import { createApi } from '../server/http/api.ts'
import { HttpError, errorReply, type Logger } from '../server/http/replies.ts'
import type { LimitOptions } from '../server/http/limits.ts'
import { insideOf } from './handles.ts'
import type { Runsheet } from './runsheet.ts'
import { foreignOrigin, type Guard } from '../server/http/access.ts'
import { readFileSync } from 'node:fs'

export type { LimitOptions } from '../server/http/limits.ts'
export type { LogDetails, Logger } from '../server/http/replies.ts'

/** Options of `createHandler`. */
export interface HandlerOptions extends LimitOptions {
  readonly runsheet: Runsheet
  /** Identifies the sender by your own session, cookie or token; `undefined` is answered with 401. */
  readonly authenticate: Authenticate
  /** The mount path, such as `/runsheet`: the prefix of request paths. Default: the root. */
  readonly basePath?: string
  /**
   * Origins besides the server's own whose pages may send requests, such as `https://app.example.com`. They get CORS
   * headers. Behind a proxy that terminates TLS, list your public origin.
   */
  readonly origins?: readonly string[]
  /** The models of your runner, which drives turns started by `POST /api/chat`. Without them it answers 501. */
  readonly models?: { readonly names: readonly string[]; readonly defaultName: string }
  /** Default: unexpected errors go to stderr. */
  readonly log?: Logger
}

/** The HTTP API as a fetch handler. */
export interface Handler {
  (request: Request): Promise<Response>
  /** The mount path; empty for the root. */
  readonly basePath: string
  /** Ends all streams and waits for requests in progress. Later requests get 503. */
  close(): Promise<void>
}

/**
 * The whole HTTP API, including event streams, as one fetch handler for your own server. That server has to check the
 * Host header.
 */
export function createHandler(options: HandlerOptions): Handler {
  const { runsheet, authenticate, basePath: path = '', origins = [], models, log = stderrLog, ...limits } = options
  const basePath = checkedBasePath(path)
  const { door, tenant, policy } = insideOf(runsheet)
  checkOrigins(origins)
  const api = createApi({
    door,
    guard: hostGuard(authenticate, origins, tenant),
    log,
    version,
    basePath,
    usesTokens: false,
    host: policy,
    // The runner learns of new turns from the store.
    ...(models ? { turns: { ...models, take: () => {} } } : {}),
    ...limits,
  })
  const allowOrigins = cors({ origin: [...origins], credentials: true, exposeHeaders: EXPOSED, maxAge: 600 })
  const app = new Hono()
    .use((c, next) => (origins.includes(c.req.header('origin') ?? '') ? allowOrigins(c, next) : next()))
    .all('*', ({ req: { raw } }) => (api.closing.aborted ? errorReply(closing(), log, {}) : api.fetch(raw)))
  const inProgress = new Set<Promise<Response>>()
  const handle = (request: Request): Promise<Response> => {
    const response = Promise.resolve(app.fetch(request))
    inProgress.add(response)
    void response.finally(() => inProgress.delete(response))
    return response
  }
  const close = async (): Promise<void> => {
    api.close()
    await Promise.allSettled(inProgress)
  }
  return Object.assign(handle, { basePath, close })
}

/** A request of `node:http`. Structural, so that the declarations do not depend on Node's types. */
export interface NodeRequest {
  readonly method?: string | undefined
  url?: string | undefined
  /** The original path, where a framework removed the mount path from `url`. */
  readonly originalUrl?: string | undefined
}

/** A response of `node:http`. */
export interface NodeResponse {
  readonly headersSent: boolean
}

/** Adapts a handler to a `node:http` listener or middleware for Express and Connect. */
export function toNodeHandler(handler: Handler): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const listener = getRequestListener(request => handler(request), {
    overrideGlobalObjects: false,
    // A request without a valid URL, such as one with a malformed Host.
    errorHandler: error => errorReply(error, stderrLog, {}),
  })
  return (request, response) => {
    // Express strips the mount path from `url`.
    if (handler.basePath !== '' && request.originalUrl !== undefined) request.url = request.originalUrl
    return listener(request as IncomingMessage, response as ServerResponse)
  }
}

/** Response headers that cross-origin clients need to read. */
const EXPOSED = ['Date', 'ETag', 'Retry-After']

const { block } = redactor()
const stderrLog: Logger = {
  error: ({ err }, message) => void process.stderr.write(`${block(`Runsheet: ${message}: ${inspect(err)}`)}\n`),
  warn: () => {},
}

function checkedBasePath(path: string): string {
  const base = path.replace(/\/$/, '')
  if (base === '' || base.startsWith('/')) return base
  throw new TypeError(`basePath must start with a slash, got ${path}`)
}

const closing = (): HttpError =>
  new HttpError(503, 'closing', 'The server is shutting down.', { headers: { 'retry-after': '1' } })

/** The sender of a request. */
export interface Identity {
  /** A person may do everything; an agent may read, call tools and follow events. */
  readonly role: 'person' | 'agent'
  /** The tenant whose conversations the sender sees. Default: the runsheet's tenant. */
  readonly tenant?: string | undefined
  /**
   * Identifies the sender, such as a user or an API key. Limits are per name: one named sender gets at most half of
   * each. Without a name, all senders of the same role and tenant share one limit. The log records the name with each
   * decision, so never return a secret, such as the key itself.
   */
  readonly name?: string | undefined
}

/** Identifies the sender of a request; returns undefined if authentication fails. */
export type Authenticate = (request: Request) => Identity | undefined | Promise<Identity | undefined>

/** The guard of a handler in the program's own server, with its authentication and allowed origins. */
function hostGuard(authenticate: Authenticate, origins: readonly string[], tenant: string): Guard {
  return {
    check: ({ headers, url }) => {
      const origin = headers.get('origin')
      if (origin !== null && origin !== new URL(url).origin && !origins.includes(origin)) throw foreignOrigin(HINT)
    },
    authenticate: async request => {
      const identity = await authenticate(request)
      if (!identity) throw new HttpError(401, 'unauthorized', 'Authentication required')
      const { role, name } = identity
      return { role, tenant: identity.tenant ?? tenant, ...(name === undefined ? {} : { name }) }
    },
  }
}

const HINT = ' To allow them, list the origin in `origins`.'

/** An origin with a path or a trailing slash would never match. */
function checkOrigins(origins: readonly string[]): void {
  const wrong = origins.find(origin => URL.parse(origin)?.origin !== origin)
  if (wrong === undefined) return
  throw new TypeError(`origins must be like https://app.example.com, without a path; got ${wrong}`)
}

/** The package version, from source or installed. */
const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
