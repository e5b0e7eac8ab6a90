import type { ErrorBody } from '../domain/wire.ts'
import { RunsheetError, unreachable } from './errors.ts'

export interface ClientOptions {
  /** Where the server is. */
  readonly url: string | URL
  /** Absent only for what takes none: trading a code for one. */
  readonly token?: string
  readonly fetch?: typeof globalThis.fetch
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Goes out even when the page that asks is just being left. */
  readonly keepalive?: boolean
}

/** Asks the server. Whatever is not a 2xx is thrown. */
export async function ask(options: ClientOptions, path: string, request: Ask = {}): Promise<Response> {
  const { method = 'GET', query = {}, body, headers, signal, keepalive } = request
  const url = new URL(path, options.url)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  const { fetch = globalThis.fetch } = options
  const response = await fetch(url, {
    method,
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
    ...(keepalive ? { keepalive } : {}),
  }).catch((cause: unknown) => {
    throw signal?.aborted ? signal.reason : unreachable(cause)
  })
  if (!response.ok) throw await refusal(response)
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

async function refusal(response: Response): Promise<RunsheetError> {
  const answer = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | undefined
  const unknown = { code: 'unknown', message: `The server answered ${response.status}.` }
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new RunsheetError(
    response.status,
    answer?.error ?? unknown,
    Number.isNaN(seconds) ? undefined : seconds * 1_000,
  )
}
