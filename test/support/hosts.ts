import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { type Handler, toNodeHandler } from '../../src/library/http.ts'

/** For tests: a handler mounted at `/runsheet` in a server of its user. */
export interface Mounted {
  /** The base URL of the API. */
  readonly url: URL
  readonly fetch: typeof globalThis.fetch
  readonly close: () => Promise<void>
}

/** Each way of the docs to mount a handler. */
export const HOSTS: Readonly<Record<string, (handler: Handler) => Promise<Mounted>>> = {
  'node:http': handler => listening(toNodeHandler(handler)),
  'Hono, all()': handler =>
    listening(getRequestListener(new Hono().all('/runsheet/*', c => handler(c.req.raw)).fetch, OWN_GLOBALS)),
  'Hono, mount()': handler =>
    listening(getRequestListener(new Hono().mount('/runsheet', handler, { replaceRequest: false }).fetch, OWN_GLOBALS)),
  Express: handler => listening(mountedInExpress(toNodeHandler(handler))),
  'Next.js': handler => Promise.resolve(routedByNext(handler)),
}

const OWN_GLOBALS = { overrideGlobalObjects: false } as const

async function listening(listener: RequestListener): Promise<Mounted> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/runsheet/`),
    fetch,
    close: () => {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}

/** What `app.use('/runsheet', middleware)` does to a request. */
const mountedInExpress =
  (middleware: RequestListener): RequestListener =>
  (request, response) => {
    const originalUrl = request.url ?? ''
    Object.assign(request, { originalUrl, baseUrl: '/runsheet', url: originalUrl.replace(/^\/runsheet/, '') || '/' })
    middleware(request, response)
  }

/** What Next does with `app/runsheet/[...path]/route.ts`: one export for each method, called with request and context. */
function routedByNext(handler: Handler): Mounted {
  type NextHandler = (request: Request, context: { params: Promise<{ path: string[] }> }) => Promise<Response>
  const route: Readonly<Record<string, NextHandler>> = {
    GET: handler,
    POST: handler,
    PUT: handler,
    PATCH: handler,
    DELETE: handler,
    OPTIONS: handler,
  }
  return {
    url: new URL('http://localhost:3000/runsheet/'),
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const path = new URL(request.url).pathname.split('/').slice(2)
      const method = route[request.method]
      return method ? method(request, { params: Promise.resolve({ path }) }) : new Response(null, { status: 405 })
    },
    close: async () => {},
  }
}
