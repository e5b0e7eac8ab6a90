import type { ErrorBody, ErrorDetails } from '../core/views/wire.ts'

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

/** A failed request, with the server's code and message. */
export class RunsheetError extends Error {
  override readonly name = 'RunsheetError'
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  readonly code: string
  /** The other fields of the error, such as `row`, `field` or `task`. */
  readonly details: ErrorDetails
  /** Milliseconds to wait before a retry, if the server says so. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, { code, message, ...details }: ErrorBody, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.retryAfterMs = retryAfterMs
  }

  toJSON(): { readonly status: number } & ErrorBody {
    return { ...this.details, status: this.status, code: this.code, message: this.message }
  }
}

export const unreachable = (cause: unknown): RunsheetError => {
  const error = new RunsheetError(0, { code: 'unreachable', message: 'The server cannot be reached.' })
  error.cause = cause
  return error
}

/** The `Date` header has a resolution of one second. */
const SECOND_MS = 1_000

/**
 * Estimates the server's clock: each `Date` lies between request and response. The offset changes only when it no
 * longer fits, so slow responses and responses without a date have no effect.
 */
export class ServerClock {
  #ahead = 0

  readonly now = (): number => Date.now() + this.#ahead

  watched(fetch: typeof globalThis.fetch | undefined): typeof globalThis.fetch {
    return async (...request) => {
      const asked = Date.now()
      const response = await (fetch ?? globalThis.fetch)(...request)
      const dated = Date.parse(response.headers.get('date') ?? '')
      const atLeast = dated - Date.now()
      const atMost = dated + SECOND_MS - asked
      // False without a date, or if the local clock was set back during the request.
      if (atLeast <= atMost) this.#ahead = Math.min(Math.max(this.#ahead, atLeast), atMost)
      return response
    }
  }
}
