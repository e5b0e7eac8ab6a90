import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { textForAgent } from '../domain/held-out.ts'
import { originNames } from '../domain/origin.ts'
import type { Redactor } from '../domain/redact.ts'
import { Refusal } from '../domain/refusal.ts'
import { bodyBytes, MAX_ANONYMOUS_BODY_BYTES, MAX_BODY_BYTES, readJson } from './body.ts'
import { CLIENT_LEFT, type Reply } from './connection.ts'
import type { Caller } from './credentials.ts'
import { errorReply } from './error-reply.ts'
import type { Guard } from './guard.ts'
import { JSON_TYPE, SAFE } from './headers.ts'
import { HttpError, notFound } from './http-error.ts'
import type { Limits } from './limits.ts'
import type { Logger } from './logger.ts'
import { type Page, pageReply } from './page.ts'
import { parseBody, parseUrl } from './parse.ts'
import { credentialOf, type Release } from './quota.ts'
import { relay } from './relay.ts'
import { requestOrigin } from './request-origin.ts'
import type { Answer, Deps, Env, Mcp, Parts, RequestContext, Route } from './route.ts'

export interface AppOptions {
  readonly deps: Deps
  /** Must not contain a route that needs a part missing from `deps`. */
  readonly routes: readonly Route[]
  readonly guard: Guard
  readonly log: Logger
  /** Applied to client names before they reach the log. */
  readonly redact: Redactor
  /** Stripped from each path; paths without it get 404. Empty for none. */
  readonly basePath: string
  readonly page?: Page
  readonly mcp?: Mcp
}

/**
 * Checks every request in the same order: Host and Origin, caller, role, rate, schema. Errors thrown by a route become
 * replies. Bodies and replies count against the limits while they are in memory.
 */
export function createApp({ deps, routes, guard, log, redact, basePath, page, mcp }: AppOptions): Hono<Env> {
  const { limits } = deps
  const nameOf = originNames(redact)
  const app = new Hono<Env>({ getPath: request => withoutBase(getPath(request), basePath) })

  for (const route of routes) {
    app.on(route.method, route.path, c => answer(c, route.path, () => callRoute(route, c)))
  }
  for (const [path, known] of Map.groupBy(routes, ({ path }) => path)) {
    const allow = known.map(({ method }) => method.toUpperCase()).join(', ')
    app.all(path, c => answer(c, path, () => refuseMethod(c, known[0]?.public ?? false, allow)))
  }
  if (mcp) app.all('/mcp', c => answer(c, '/mcp', () => callMcp(c, mcp)))
  if (page) app.get('*', c => answer(c, 'page', () => servePage(c, page)))
  app.all('*', c => answer(c, 'unknown', () => refusePath(c)))
  return app

  async function answer(c: RequestContext, route: string, work: () => Promise<Reply | Response>): Promise<Response> {
    const { connection } = c.env
    const { method } = c.req
    const started = performance.now()
    const reply = await work().catch((error: unknown) =>
      // Log the route, not the URL: URLs contain search texts.
      connection.isClosed ? CLIENT_LEFT : errorReply(error, log, { method, route }),
    )
    deps.metrics?.request(method, route, reply.status, (performance.now() - started) / 1_000)
    if (reply instanceof Response) return reply
    const { body } = reply
    const isOpen = typeof body !== 'string' || c.get('role') === 'person'
    return connection.send(isOpen ? reply : { ...reply, body: textForAgent(body) })
  }

  async function callerOf(c: RequestContext): Promise<Caller> {
    const caller = await guard.authenticate(c.req.raw)
    c.set('role', caller.role)
    return caller
  }

  async function callRoute(route: Route, c: RequestContext): Promise<Reply | Response> {
    if (!route.public) guard.check(c.req.raw)
    const caller = route.role === 'none' ? undefined : await callerOf(c)
    if (route.role === 'person' && caller?.role !== 'person') {
      throw new Refusal('persons_only', { action: 'use_route' })
    }
    const isRead = route.method === 'get'
    if (caller) limits.request(caller, isRead ? 'reads' : 'writes')
    const maxBytes = caller ? MAX_BODY_BYTES : MAX_ANONYMOUS_BODY_BYTES
    const bytes = bodyBytes(c, route.body !== undefined, maxBytes)
    const release = limits.body(caller, bytes)
    try {
      const raw = route.body || bytes > 0 ? await readJson(c, maxBytes) : undefined
      await limits.turn(caller)
      if (isRead && c.env.connection.isClosed) return CLIENT_LEFT
      const reply = await handle(route, c, caller ?? ANONYMOUS, raw)
      return reply instanceof Response ? reply : counted(c, reply, caller, !isRead)
    } finally {
      release()
    }
  }

  function counted({ env }: RequestContext, reply: Reply, caller: Caller | undefined, mustBeSent: boolean): Reply {
    env.connection.onClose(limits.answer(caller, Buffer.byteLength(reply.body ?? ''), mustBeSent))
    return reply
  }

  async function handle(route: Route, c: RequestContext, caller: Caller, raw: unknown): Promise<Reply | Response> {
    const call = {
      params: parseUrl(route.params, c.req.param()),
      query: parseUrl(route.query, c.req.query()),
      body: parseBody(route.body, raw),
      caller,
      method: c.req.method,
      header: (name: string) => c.req.header(name),
      connection: c.env.connection,
    }
    const { connection } = c.env
    const door =
      route.method === 'get' ? deps.door : deps.door.from(requestOrigin(caller, c.req.raw, connection, nameOf))
    const answered = await route.handle(call, { ...deps, door } as Deps & Parts)
    return answered instanceof Response ? answered : replyOf(answered)
  }

  async function callMcp(c: RequestContext, mcp: Mcp): Promise<Reply | Response> {
    guard.check(c.req.raw)
    const caller = await callerOf(c)
    if (!MCP_METHODS.includes(c.req.method)) return refuseMethod(c, false, MCP_METHODS.join(', '))
    const { connection } = c.env
    const isPost = c.req.method === 'POST'
    limits.request(caller, isPost ? 'writes' : 'reads')
    // Released on close, because held calls and streams outlive the headers.
    connection.onClose(limits.body(caller, bodyBytes(c, isPost)))
    const body = isPost ? await readJson(c).catch(asParseError) : undefined
    if (body instanceof Response) return body
    const closed = new AbortController()
    connection.onClose(() => closed.abort())
    await limits.turn(caller)
    const answered = await mcp(c.req.raw, {
      role: caller.role,
      credential: credentialOf(caller),
      origin: requestOrigin(caller, c.req.raw, connection, nameOf),
      body,
      closed: closed.signal,
      openStream: () => connection.onClose(limits.stream(caller)),
      hold: holdFor(limits, caller),
    })
    if (!(answered instanceof Response)) return { ...answered, headers: { ...answered.headers, ...SAFE } }
    const headers: Readonly<Record<string, string>> = { ...Object.fromEntries(answered.headers), ...SAFE }
    if (!answered.body || !headers['content-type']?.startsWith('text/event-stream')) {
      const reply = { status: answered.status, headers, ...(answered.body ? { body: await answered.text() } : {}) }
      return counted(c, reply, caller, true)
    }
    connection.open(headers)
    void relay(answered.body, connection, limits.backlog(caller))
    return connection.response
  }

  async function servePage(c: RequestContext, page: Page): Promise<Reply> {
    const file = page(c.req.path)
    if (!file) return refusePath(c)
    guard.check(c.req.raw)
    return pageReply(file, name => c.req.header(name))
  }

  async function refuseMethod(c: RequestContext, isPublic: boolean, allow: string): Promise<never> {
    if (!isPublic) {
      guard.check(c.req.raw)
      await guard.authenticate(c.req.raw)
    }
    throw new HttpError(405, 'method_not_allowed', `Method not allowed. Allowed: ${allow}`, { headers: { allow } })
  }

  async function refusePath(c: RequestContext): Promise<never> {
    guard.check(c.req.raw)
    if (/^\/(api|mcp)(\/|$)/.test(c.req.path)) await guard.authenticate(c.req.raw)
    throw notFound('not_found', 'Not found')
  }
}

function replyOf({ status = 200, body, text, headers }: Answer): Reply {
  if (body !== undefined) return { status, headers: { ...SAFE, ...JSON_TYPE, ...headers }, body: JSON.stringify(body) }
  return { status, headers: { ...SAFE, ...headers }, ...(text === undefined ? {} : { body: text }) }
}

const withoutBase = (path: string, base: string): string =>
  path === base || path.startsWith(`${base}/`) ? path.slice(base.length) || '/' : OUTSIDE

const OUTSIDE = '/outside'

/** Defined at module level because MCP sessions keep this closure: it must not capture the request. */
const holdFor = (limits: Limits, caller: Caller) => (): Release | undefined => limits.wait(caller)

function asParseError(error: unknown): Response {
  if (!(error instanceof HttpError) || error.code !== 'malformed_json') throw error
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: error.message } }
  return Response.json(body, { status: 400, headers: SAFE })
}

const MCP_METHODS = ['POST', 'GET', 'DELETE']

const ANONYMOUS: Caller = { role: 'agent', tenant: '' }
