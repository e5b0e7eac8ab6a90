import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { textForAgent } from '../../core/proof/held-out.ts'
import { type Origin, originNames } from '../../core/model/origin.ts'
import type { Redactor } from '../../core/text/redact.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { MAX_ANONYMOUS_BODY_BYTES, MAX_BODY_BYTES, hasBody, parseBody, parseUrl, readJson } from './requests.ts'
import { requestOrigin, type Caller, type Guard, type Role } from './access.ts'
import { HttpError, JSON_TYPE, SAFE, errorReply, notFound, type Logger } from './replies.ts'
import { credentialOf, type Limits, type Release } from './limits.ts'
import { type Page, pageReply } from './page.ts'
import type { Answer, Deps, Env, Mcp, Parts, RequestContext, Route } from './route.ts'

export interface AppOptions {
  readonly deps: Deps
  readonly limits: Limits
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
 * replies.
 */
export function createApp({ deps, limits, routes, guard, log, redact, basePath, page, mcp }: AppOptions): Hono<Env> {
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

  async function answer(c: RequestContext, route: string, work: () => Promise<Response>): Promise<Response> {
    const { method } = c.req
    const started = performance.now()
    const response = await work().catch((error: unknown) =>
      // Log the route, not the URL: URLs contain search texts.
      c.req.raw.signal.aborted ? CLIENT_LEFT() : errorReply(error, log, { method, route }, c.get('role')),
    )
    deps.metrics?.request(method, route, response.status, (performance.now() - started) / 1_000)
    return response
  }

  async function callerOf(c: RequestContext): Promise<Caller> {
    const caller = await guard.authenticate(c.req.raw)
    c.set('role', caller.role)
    return caller
  }

  async function callRoute(route: Route, c: RequestContext): Promise<Response> {
    if (!route.public) guard.check(c.req.raw)
    const caller = route.role === 'none' ? undefined : await callerOf(c)
    if (route.role === 'person' && caller?.role !== 'person') {
      throw new Refusal('persons_only', { action: 'use_route' })
    }
    if (caller) limits.count(caller, route.method === 'get' ? 'reads' : 'writes')
    return whileOpen(c, route.public ? () => {} : limits.open(caller), async release => {
      const maxBytes = caller ? MAX_BODY_BYTES : MAX_ANONYMOUS_BODY_BYTES
      const raw = route.body || hasBody(c) ? await readJson(c, maxBytes) : undefined
      return handle(route, c, caller ?? ANONYMOUS, raw, release)
    })
  }

  async function handle(
    route: Route,
    c: RequestContext,
    caller: Caller,
    raw: unknown,
    release: Release,
  ): Promise<Response> {
    const params = parseUrl(route.params, c.req.param())
    const conversation = c.req.param('session_id')
    const call = {
      params,
      ref: (conversation === undefined ? undefined : { tenant: caller.tenant, conversation }) as undefined,
      query: parseUrl(route.query, c.req.query()),
      body: parseBody(route.body, raw),
      caller,
      method: c.req.method,
      header: (name: string) => c.req.header(name),
      signal: c.req.raw.signal,
      release,
    }
    const door = route.method === 'get' ? deps.door : deps.door.from(originOf(c, caller))
    const answered = await route.handle(call, { ...deps, door } as Deps & Parts)
    return answered instanceof Response ? answered : replyOf(answered, caller.role)
  }

  async function callMcp(c: RequestContext, mcp: Mcp): Promise<Response> {
    guard.check(c.req.raw)
    const caller = await callerOf(c)
    if (!MCP_METHODS.includes(c.req.method)) return refuseMethod(c, false, MCP_METHODS.join(', '))
    const isPost = c.req.method === 'POST'
    limits.count(caller, isPost ? 'writes' : 'reads')
    return whileOpen(c, limits.open(caller), async () => {
      const body = isPost ? await readJson(c).catch(asParseError) : undefined
      if (body instanceof Response) return body
      const closed = new AbortController()
      c.env.outgoing?.once('close', () => closed.abort())
      const answered = await mcp(c.req.raw, {
        role: caller.role,
        credential: credentialOf(caller),
        origin: originOf(c, caller),
        body,
        closed: closed.signal,
      })
      const headers = { ...Object.fromEntries(answered.headers), ...SAFE }
      const response = new Response(answered.body, { status: answered.status, headers })
      return caller.role === 'person' ? response : forAgent(response)
    })
  }

  function originOf(c: RequestContext, caller: Caller): Origin {
    return requestOrigin(caller, c.req.raw, c.env.incoming?.socket.remoteAddress, nameOf)
  }

  async function servePage(c: RequestContext, page: Page): Promise<Response> {
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

/**
 * Releases a request once its answer has been read. Behind `createHandler` nobody says when that is: there it is once
 * the answer was made, and a stream releases itself.
 */
async function whileOpen(
  { env }: RequestContext,
  release: Release,
  work: (release: Release) => Promise<Response>,
): Promise<Response> {
  const { outgoing } = env
  if (outgoing) {
    if (outgoing.destroyed) release()
    else outgoing.once('close', release)
    return work(() => {})
  }
  try {
    const response = await work(release)
    const streams = response.body && response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!streams) release()
    return response
  } catch (error) {
    release()
    throw error
  }
}

async function forAgent(response: Response): Promise<Response> {
  const { status, headers } = response
  if (!headers.get('content-type')?.startsWith('application/json')) return response
  return new Response(textForAgent(await response.text()), { status, headers })
}

/** An agent learns nothing of held-out checks. Event streams are framed by role. */
function replyOf({ status = 200, body, text, headers }: Answer, role: Role): Response {
  if (body === undefined) return new Response(text ?? null, { status, headers: { ...SAFE, ...headers } })
  const json = JSON.stringify(body)
  const shown = role === 'person' ? json : textForAgent(json)
  return new Response(shown, { status, headers: { ...SAFE, ...JSON_TYPE, ...headers } })
}

/** 499: the client closed the request before the reply. */
const CLIENT_LEFT = (): Response => new Response(null, { status: 499 })

const withoutBase = (path: string, base: string): string =>
  path === base || path.startsWith(`${base}/`) ? path.slice(base.length) || '/' : OUTSIDE

const OUTSIDE = '/outside'

function asParseError(error: unknown): Response {
  if (!(error instanceof HttpError) || error.code !== 'malformed_json') throw error
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: error.message } }
  return Response.json(body, { status: 400, headers: SAFE })
}

const MCP_METHODS = ['POST', 'GET', 'DELETE']

const ANONYMOUS: Caller = { role: 'agent', tenant: '' }
