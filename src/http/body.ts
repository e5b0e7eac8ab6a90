import type { Context } from 'hono'
import { HttpError } from './errors.ts'

const MOST_BYTES = 256 * 1024
/** Far deeper than anything that we take, and far from where recursion hurts. */
const DEEPEST = 100

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The JSON that a request brings: of the right type, within the limits, with nothing in it that could act as a prototype. */
export async function readJson(c: Context): Promise<unknown> {
  if (!isJson(c.req.header('content-type'))) {
    throw new HttpError(415, 'unsupported_media_type', 'The body must be application/json.')
  }
  const text = decoded(await bytesOf(c))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not JSON.')
  }
  checkTree(value, 0)
  return value
}

/** Whether something was sent along, wanted or not. */
export const hasBody = (c: Context): boolean =>
  Number(c.req.header('content-length') ?? 0) > 0 || c.req.header('transfer-encoding') !== undefined

function isJson(header: string | undefined): boolean {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  return type.trim() === 'application/json' && parameters.every(each => /^\s*(charset\s*=\s*"?utf-8"?)?\s*$/.test(each))
}

async function bytesOf(c: Context): Promise<Uint8Array> {
  if (Number(c.req.header('content-length') ?? 0) > MOST_BYTES) throw tooLarge()
  if (c.req.header('content-length') !== undefined) return new Uint8Array(await c.req.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not UTF-8.')
  }
}

function checkTree(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > DEEPEST) throw malformed(`The body is nested more than ${DEEPEST} deep.`)
  if (Array.isArray(value)) {
    for (const each of value) checkTree(each, depth + 1)
    return
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw malformed('The body holds the key __proto__.')
    checkTree((value as Record<string, unknown>)[key], depth + 1)
  }
}

const malformed = (message: string): HttpError => new HttpError(400, 'malformed_json', message)

const tooLarge = (): HttpError =>
  new HttpError(413, 'body_too_large', `The body must be at most ${MOST_BYTES / 1024} kB.`, {
    headers: { connection: 'close' },
  })
