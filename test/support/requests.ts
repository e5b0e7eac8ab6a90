import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { withOpenApi } from '../../src/server/http/openapi.ts'
import type { Route } from '../../src/server/http/route.ts'
import { ROUTES } from '../../src/server/routes/index.ts'
import { held } from './faults.ts'
import { TOKENS } from './server.ts'

/** Every route of the server, the document's own included. */
export const EVERY_ROUTE: readonly Route[] = withOpenApi(ROUTES, { version: '0.0.0' })

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method.toUpperCase()} ${path}`

/** The path with each `:name` replaced. */
export const filled = (path: string, valueOf: (name: string) => string): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => valueOf(name))

export const bearer = (who: keyof typeof TOKENS): { authorization: string } => ({
  authorization: `Bearer ${TOKENS[who]}`,
})

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The error's code; undefined if the answer is no error, or not in our form. */
  readonly code: string | undefined
  readonly field: string | undefined
  readonly row: number | undefined
}

export interface Sent {
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** Sends the body without a Content-Length. */
  readonly chunked?: boolean
}

const lines = new Agent({ keepAlive: true })

/**
 * A request with any header (`fetch` forbids Host). An event stream is closed once it has begun. The server may refuse a
 * body before all of it was sent; only the answer counts.
 */
export function send(port: string, method: string, path: string, sent: Sent = {}): Promise<Answered> {
  const { headers = {}, body, chunked = false } = sent
  const isLarge = (body?.length ?? 0) > 100_000
  return new Promise((resolve, reject) => {
    const asked = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: isLarge ? false : lines,
      headers: { ...(body === undefined || chunked ? {} : { 'content-length': Buffer.byteLength(body) }), ...headers },
    })
    asked.on('error', reject)
    asked.on('response', response => {
      const { statusCode: status = 0, headers: got } = response
      if (got['content-type']?.startsWith('text/event-stream')) {
        asked.destroy()
        resolve(answered(status, got, ''))
        return
      }
      const chunks: Buffer[] = []
      const done = (): void => resolve(answered(status, got, Buffer.concat(chunks).toString()))
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', done).on('error', done)
    })
    asked.end(body)
  })
}

/** Sends raw bytes; resolves with everything received until the server closed the connection. */
export function sendRaw(port: string, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', chunk => chunks.push(chunk))
    socket.on('error', error => (chunks.length === 0 ? reject(error) : undefined))
    socket.on('close', () => {
      held()
      resolve(Buffer.concat(chunks).toString())
    })
    socket.write(bytes)
  })
}

/** The statuses in a raw response. */
export const statusesIn = (raw: string): number[] =>
  [...raw.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

function answered(status: number, headers: IncomingHttpHeaders, text: string): Answered {
  const error = status >= 400 ? errorIn(text) : undefined
  held()
  return { status, headers, text, code: error?.code, field: error?.field, row: error?.row }
}

interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly field?: string
  readonly row?: number
}

/** The error in an answer, if it is in the common form. */
export function errorIn(text: string): ErrorBody | undefined {
  try {
    const { error, ...rest } = JSON.parse(text) as { error: ErrorBody }
    const isOurs = Object.keys(rest).length === 0 && typeof error.message === 'string' && error.message !== ''
    return isOurs && /^[a-z]+(_[a-z]+)*$/.test(error.code) ? error : undefined
  } catch {
    return undefined
  }
}
