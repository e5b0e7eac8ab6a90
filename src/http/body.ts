import type { Context } from 'hono'
import { HttpError } from './http-error.ts'

const MAX_BYTES = 256 * 1024
/** Deeper than any valid body, and far from a stack overflow. */
const MAX_DEPTH = 100

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The JSON body of a request: of the right type, within the limits, without a `__proto__` key. */
export async function readJson(c: Context): Promise<unknown> {
  if (!isJson(c.req.header('content-type'))) {
    throw new HttpError(415, 'unsupported_media_type', 'The body must be application/json.')
  }
  const text = decoded(await bytesOf(c))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  checkTree(value, 0)
  return value
}

/** Whether the request has a body, expected or not. */
export const hasBody = (c: Context): boolean =>
  Number(c.req.header('content-length') ?? 0) > 0 || c.req.header('transfer-encoding') !== undefined

function isJson(header: string | undefined): boolean {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  return type.trim() === 'application/json' && parameters.every(each => /^\s*(charset\s*=\s*"?utf-8"?)?\s*$/.test(each))
}

async function bytesOf(c: Context): Promise<Uint8Array> {
  if (Number(c.req.header('content-length') ?? 0) > MAX_BYTES) throw tooLarge()
  if (c.req.header('content-length') !== undefined) return new Uint8Array(await c.req.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
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

const tooLarge = (): HttpError =>
  new HttpError(413, 'body_too_large', `The body must be at most ${MAX_BYTES / 1024} kB.`, {
    headers: { connection: 'close' },
  })
