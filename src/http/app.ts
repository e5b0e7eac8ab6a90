import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import type { Logger } from 'pino'
import { hasBody, readJson } from './body.ts'
import type { Credential, Credentials } from './credentials.ts'
import { errorAnswer, HttpError, notFound } from './errors.ts'
import { SAFE } from './headers.ts'
import type { Limits } from './limits.ts'
import type { Origins } from './origins.ts'
import { parseBody, parseUrl } from './parse.ts'
import type { Page } from './page.ts'
import type { Call, Desk, Env, Mcp, Route } from './route.ts'

export interface AppOptions {
  readonly desk: Desk
  readonly routes: readonly Route[]
  readonly credentials: Credentials
  readonly origins: Origins
  readonly limits: Limits
  readonly page: Page
  readonly mcp: Mcp | undefined
  readonly log: Logger
}

type Context = Call<unknown, unknown, unknown>['context']

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/**
 * Every request goes the same way: may it be asked under this name and from this page, by whom, how often, in which form.
 * Then the route is asked, and whatever it throws becomes an answer.
 */
export function createApp({ desk, routes, credentials, origins, limits, page, mcp, log }: AppOptions): Hono<Env> {
  const app = new Hono<Env>()
  const methods = Map.groupBy(routes, ({ path }) => path)

  for (const route of routes) {
    app.on(route.method, route.path, c => answer(c, route.path, () => asked(route, c)))
  }
  for (const [path, known] of methods) {
    const allow = known.map(({ method }) => method.toUpperCase()).join(', ')
    app.all(path, c => answer(c, path, () => refused(c, known[0]?.public ?? false, allow)))
  }
  if (mcp) app.all('/mcp', c => answer(c, '/mcp', () => overMcp(c, mcp)))
  app.get('*', c =>
    answer(c, 'page', async () => {
      origins.check(c.req.header('host'), c.req.header('origin'))
      const file = page(c.req.path)
      if (!file) return unknown(c)
      const cache = file.lasting ? 'public, max-age=31536000, immutable' : 'no-cache'
      const headers = { ...SAFE, 'content-type': file.type, 'cache-control': cache }
      return { status: 200, headers, body: file.content }
    }),
  )
  app.all('*', c => answer(c, 'unknown', () => unknown(c)))
  return app

  async function answer(c: Context, route: string, work: () => Promise<Reply | Response>): Promise<Response> {
    const started = performance.now()
    // The route, not the URL: what a person searched for is nobody's business.
    const reply = await work().catch((error: unknown) => {
      if (c.env.incoming.aborted || c.env.outgoing.destroyed) return LEFT
      return failed(error, log, { method: c.req.method, route })
    })
    desk.metrics.request(c.req.method, route, reply.status, (performance.now() - started) / 1_000)
    return reply instanceof Response ? reply : sent(c.env.outgoing, reply)
  }

  async function asked(route: Route, c: Context): Promise<Reply | Response> {
    if (!route.public) origins.check(c.req.header('host'), c.req.header('origin'))
    const who = route.role === 'nobody' ? NOBODY : authorized(c)
    if (route.role === 'person' && who.role !== 'person') {
      throw new HttpError(403, 'persons_only', "This is a person's to do: an agent's token does not allow it.")
    }
    if (route.role !== 'nobody' && route.method !== 'get') limits.write(who)
    const raw = route.body || hasBody(c) ? await readJson(c) : undefined
    const call: Call<unknown, unknown, unknown> = {
      params: parseUrl(route.params, c.req.param()),
      query: parseUrl(route.query, c.req.query()),
      body: parseBody(route.body, raw),
      who,
      header: name => c.req.header(name),
      context: c,
    }
    const answered = await route.handle(call, desk)
    if (answered instanceof Response) return answered
    const { status = 200, body, text, headers } = answered
    if (body === undefined)
      return { status, headers: { ...SAFE, ...headers }, ...(text === undefined ? {} : { body: text }) }
    return { status, headers: { ...SAFE, ...JSON_TYPE, ...headers }, body: JSON.stringify(body) }
  }

  /** Another protocol behind the same door: who asks, from where, how often and in which form is looked at here. */
  async function overMcp(c: Context, mcp: Mcp): Promise<Response> {
    origins.check(c.req.header('host'), c.req.header('origin'))
    const who = authorized(c)
    if (!MCP_METHODS.includes(c.req.method)) return refused(c, false, MCP_METHODS.join(', '))
    if (c.req.method === 'POST') limits.write(who)
    const body = c.req.method === 'POST' ? await readJson(c) : undefined
    const closed = new AbortController()
    c.env.outgoing.once('close', () => closed.abort())
    const answered = await mcp(c.req.raw, { role: who.role, body, closed: closed.signal })
    for (const [name, value] of Object.entries(SAFE)) answered.headers.set(name, value)
    return answered
  }

  function authorized(c: Context): Credential {
    const [, token] = /^Bearer +([\x21-\x7e]{1,500})$/i.exec(c.req.header('authorization') ?? '') ?? []
    const who = token === undefined ? undefined : credentials.of(token)
    if (who) return who
    throw new HttpError(401, 'unauthorized', 'Send the token as Authorization: Bearer …', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  }

  async function refused(c: Context, isPublic: boolean, allow: string): Promise<never> {
    if (!isPublic) {
      origins.check(c.req.header('host'), c.req.header('origin'))
      authorized(c)
    }
    throw new HttpError(405, 'method_not_allowed', `Here you can ${allow}.`, { headers: { allow } })
  }

  async function unknown(c: Context): Promise<never> {
    origins.check(c.req.header('host'), c.req.header('origin'))
    if (/^\/(api|mcp)(\/|$)/.test(c.req.path)) authorized(c)
    throw notFound('not_found', 'There is nothing here.')
  }
}

/** The answer to whatever was thrown. What nobody foresaw is in the log, and nowhere else. */
export function failed(error: unknown, log: Logger, about: Readonly<Record<string, string>>): Reply {
  const answer = errorAnswer(error)
  if (!answer) log.error({ err: error, ...about }, 'a request failed')
  const { status, error: body, headers } = answer ?? UNFORESEEN
  return { status, headers: { ...SAFE, ...JSON_TYPE, ...headers }, body: JSON.stringify({ error: body }) }
}

/** Straight to Node's response: a web one would be read back from its stream first, which costs more than the route. */
function sent(outgoing: ServerResponse, { status, headers, body }: Reply): Response {
  if (outgoing.destroyed || outgoing.headersSent) return RESPONSE_ALREADY_SENT
  if (body === undefined) outgoing.writeHead(status, headers).end()
  else outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
  return RESPONSE_ALREADY_SENT
}

const MCP_METHODS = ['POST', 'GET', 'DELETE']

/** Nobody is there any more to be told. */
const LEFT: Reply = { status: 499, headers: {} }

const NOBODY: Credential = { role: 'agent', tenant: '' }

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const

const UNFORESEEN = {
  status: 500,
  error: { code: 'internal', message: 'Something went wrong here; it is in the log of the server.' },
  headers: {},
} as const
