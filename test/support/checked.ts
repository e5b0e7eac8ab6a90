import { afterEach, expect } from 'vitest'
import * as z from 'zod'
import type { Route } from '../../src/server/http/route.ts'
import { parserOf, shape, withOpenApi, type Shape } from '../../src/server/http/openapi.ts'
import { ROUTES } from '../../src/server/routes/index.ts'
import type { ServerOptions } from '../../src/server/http/server.ts'
import type { ErrorBody } from '../../src/core/views/wire.ts'
import type { Store } from '../../src/store/store.ts'
import { startServer, type AskOptions, type TestServer } from './server.ts'
import type { StoreKind } from './stores.ts'

/** For tests: an answer that matched its documented schema. */
export interface Answered<T> {
  readonly status: number
  readonly body: T
  readonly text: string
  readonly headers: Headers
}
export interface Refused {
  readonly error: ErrorBody
}

/** A server whose answers are all checked against the OpenAPI document. */
export interface CheckedServer extends Omit<TestServer, 'ask'> {
  readonly ask: <T = unknown>(method: string, path: string, options?: AskOptions) => Promise<Answered<T>>
  /** Sends a request that must be refused with this status. */
  readonly refused: (status: number, method: string, path: string, options?: AskOptions) => Promise<ErrorBody>
}

type Options = Partial<ServerOptions> & { store?: StoreKind }

const running = new Set<CheckedServer>()

afterEach(async () => {
  await Promise.all([...running].map(server => server.close()))
})

/** Starts a server that closes with the test. */
export async function started(options: Options = {}): Promise<CheckedServer> {
  const plain = await startServer(options)
  const ask = async <T>(method: string, path: string, more?: AskOptions): Promise<Answered<T>> => {
    const response = await plain.ask(method, path, more)
    const text = await response.text()
    const { status, headers } = response
    return { status, headers, text, body: documented(routeOf(method, path), response, text) as T }
  }
  const server: CheckedServer = {
    ...plain,
    ask,
    refused: async (status, method, path, more) => {
      const { body, ...answer } = await ask<Refused>(method, path, more)
      expect([answer.status, body]).toEqual([status, { error: expect.anything() }])
      return body.error
    },
    close: async () => {
      if (running.delete(server)) await plain.close()
    },
  }
  running.add(server)
  return server
}

/** A store with parts that a test can replace to inject faults. */
export function storeWith(store: Store, parts: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const part = name as keyof Store
      if (Object.hasOwn(parts, part)) return parts[part]
      const value: unknown = target[part]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const PARSERS = new Map<Shape, z.ZodType>()

function parserFor(of: Shape): z.ZodType {
  const parser = PARSERS.get(of) ?? parserOf(of)
  PARSERS.set(of, parser)
  return parser
}

const ALL = withOpenApi(ROUTES, { version: '0.0.0' })

function routeOf(method: string, path: string): Route {
  const { pathname } = new URL(path, 'http://localhost')
  const names = (route: Route): number => route.path.split(':').length
  const [found] = ALL.filter(route => route.method === method.toLowerCase())
    .filter(route => new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname))
    .sort((a, b) => names(a) - names(b))
  if (!found) throw new TypeError(`there is no route ${method} ${pathname}`)
  return found
}

/** The body, once its status and all of its keys proved to be documented. */
function documented(route: Route, { status, headers }: Response, text: string): unknown {
  const answer = route.answers[status]
  const name = `${route.method} ${route.path} ${status}`
  const schema = answer?.schema ?? (status >= 400 ? shape('Error') : undefined)
  if (!schema) {
    expect(answer, `${name} is not documented`).toBeDefined()
    if (answer?.type) expect(headers.get('content-type'), name).toContain(answer.type)
    else expect(text, name).toBe('')
    return text
  }
  expect(headers.get('content-type'), name).toBe('application/json; charset=utf-8')
  const body: unknown = JSON.parse(text)
  const parser = schema instanceof z.ZodType ? schema : parserFor(schema)
  // A schema of Zod drops undocumented keys, so that the two would differ.
  expect(parser.parse(body), name).toEqual(body)
  return body
}
