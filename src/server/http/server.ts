import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { LiveEntry, Ref } from '../../engine/door/door.ts'
import { type ApiOptions, createApi } from './api.ts'
import { Credentials, Login, Origins, hostOf, pageToken, tokenGuard, type Role } from './access.ts'
import { errorReply } from './replies.ts'

export interface ServerOptions extends Omit<ApiOptions, 'guard' | 'login' | 'basePath' | 'usesTokens'> {
  readonly tenant: string
  readonly tokens: Readonly<Record<Role, string>>
  readonly publicUrl?: URL
  /** A client that reads nothing for this long is disconnected. Default 30 s. */
  readonly stallMs?: number
}

const STALL_MS = 30_000
/** Timeout for receiving a whole request, and how often it is checked. */
const MAX_REQUEST_MS = 60_000
const CHECK_MS = 10_000

export interface HttpServer {
  /** Resolves with the URL for people; rejects with errors such as EADDRINUSE. */
  listen(port: number, host: string): Promise<URL>
  /** The address it listens on; behind a proxy not the URL for people. */
  local(): URL
  loginCode(): string
  showText(ref: Ref, text: LiveEntry): void
  /** Requests and streams in progress, and when the last one ended. */
  activity(): { readonly underWay: number; readonly lastAt: number }
  /** Stops accepting and ends the streams; cuts off requests that take longer than this. */
  close(withinMs: number): Promise<void>
}

export function createHttpServer(options: ServerOptions): HttpServer {
  const { tokens, tenant, log, publicUrl } = options
  const origins = new Origins()
  const login = new Login(pageToken(tokens.person))
  const guard = tokenGuard(new Credentials(tokens, tenant), origins)
  const api = createApi({ ...options, guard, login, usesTokens: true })
  const listener = getRequestListener((request, bindings) => api.fetch(request, bindings as HttpBindings), {
    // Handles requests that cannot be routed, such as one with a malformed Host.
    errorHandler: error => errorReply(error, log, { route: 'none' }),
  })
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    observe(outgoing)
    cutStalled(outgoing, options.stallMs ?? STALL_MS)
    void listener(incoming, outgoing)
  }
  const server = createServer({ requestTimeout: MAX_REQUEST_MS, connectionsCheckingInterval: CHECK_MS }, answer)
  let local = new URL('http://127.0.0.1/')
  let underWay = 0
  let lastAt = performance.now()
  const observe = (outgoing: ServerResponse): void => {
    underWay += 1
    outgoing.once('close', () => {
      underWay -= 1
      lastAt = performance.now()
    })
    // The connection is idle from now on; nothing else would close it during shutdown.
    outgoing.once('finish', () => {
      if (api.closing.aborted) server.closeIdleConnections()
    })
  }
  return {
    listen: async (port, host) => {
      const { port: actual } = await listening(server, port, host)
      origins.listenOn(host, actual, publicUrl)
      local = new URL(`http://${shownHost(host)}:${actual}/`)
      return publicUrl ?? local
    },
    local: () => local,
    loginCode: () => login.issue(),
    showText: (ref, text) => api.showText(ref, text),
    activity: () => ({ underWay, lastAt }),
    close: async withinMs => {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      api.close()
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), withinMs)
      await closed
      clearTimeout(cut)
    },
  }
}

/** The socket's timeout restarts with each chunk that the client takes; a stream may be silent. */
function cutStalled(outgoing: ServerResponse, stallMs: number): void {
  outgoing.setTimeout(stallMs, () => {
    if (outgoing.writableLength > 0) outgoing.destroy()
  })
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

/** Browsers cannot open a wildcard address. */
const shownHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : hostOf(host))
