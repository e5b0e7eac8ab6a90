import type { ErrorBody } from '../core/views/wire.ts'
import { RunsheetError, unreachable } from './runsheet-error.ts'

/** How to reach the server and sign in. */
export interface ClientOptions {
  /** The server's URL with its base path, if it has one. In a browser it may be relative to the page. */
  readonly url: string | URL
  /** A token, or a function that returns one for each request. Only `login` works without a token. */
  readonly token?: string | (() => string | Promise<string>)
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Lets the request outlive the page. */
  readonly keepalive?: boolean
}

export async function ask(options: ClientOptions, path: string, request: Ask = {}): Promise<Response> {
  const { method = 'GET', query = {}, body, headers, signal, keepalive } = request
  const url = new URL(`.${path}`, baseOf(options.url))
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  const { fetch = globalThis.fetch } = options
  const token = typeof options.token === 'function' ? await options.token() : options.token
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
    ...(keepalive ? { keepalive } : {}),
  }).catch((cause: unknown) => {
    throw signal?.aborted ? signal.reason : unreachable(cause)
  })
  if (!response.ok) throw await errorIn(response)
  return response
}

export async function askJson<T>(options: ClientOptions, path: string, request: Ask = {}): Promise<T> {
  const response = await ask(options, path, request)
  if (response.status === 204) return undefined as T
  try {
    return (await response.json()) as T
  } catch (cause) {
    throw request.signal?.aborted ? request.signal.reason : unreachable(cause)
  }
}

function baseOf(url: string | URL): URL {
  const { location } = globalThis as { location?: { readonly href: string } }
  const base = new URL(url, location?.href)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}

async function errorIn(response: Response): Promise<RunsheetError> {
  const answer = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | undefined
  const unknown = { code: 'unknown', message: `The server answered ${response.status}.` }
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new RunsheetError(
    response.status,
    answer?.error ?? unknown,
    Number.isNaN(seconds) ? undefined : seconds * 1_000,
  )
}
