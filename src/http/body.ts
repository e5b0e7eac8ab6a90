import { HttpError } from './http-error.ts'
import type { RequestContext } from './route.ts'

export const MAX_BODY_BYTES = 256 * 1024
export const MAX_ANONYMOUS_BODY_BYTES = 4 * 1024
/** Deeper than any valid body, and far from a stack overflow. */
const MAX_DEPTH = 100

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads a JSON body within the limits; refuses a `__proto__` key. */
export async function readJson(c: RequestContext, maxBytes: number = MAX_BODY_BYTES): Promise<unknown> {
  if (!isJson(c.req.header('content-type'))) {
    throw new HttpError(415, 'unsupported_media_type', 'The body must be application/json.')
  }
  const bytes = await c.env.connection.body(c.req.raw, maxBytes)
  if (!bytes) throw tooLarge(maxBytes)
  const text = decoded(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  checkTree(value, 0)
  return value
}

/** Bytes to reserve for the body. Clients can send one even where none is expected. */
export function bodyBytes(c: RequestContext, isExpected: boolean, maxBytes: number = MAX_BODY_BYTES): number {
  const length = c.req.header('content-length')
  if (length !== undefined) return Math.min(Number(length), maxBytes)
  return isExpected || c.req.header('transfer-encoding') !== undefined ? maxBytes : 0
}

function isJson(header: string | undefined): boolean {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  return type.trim() === 'application/json' && parameters.every(each => /^\s*(charset\s*=\s*"?utf-8"?)?\s*$/.test(each))
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not valid UTF-8.')
  }
}

function checkTree(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw malformed(`The body is nested more than ${MAX_DEPTH} levels deep.`)
  if (Array.isArray(value)) {
    for (const each of value) checkTree(each, depth + 1)
    return
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw malformed('The body must not have a key __proto__.')
    checkTree((value as Record<string, unknown>)[key], depth + 1)
  }
}

const malformed = (message: string): HttpError => new HttpError(400, 'malformed_json', message)

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(413, 'body_too_large', `The body must be at most ${maxBytes / 1024} kB.`, {
    headers: { connection: 'close' },
  })
