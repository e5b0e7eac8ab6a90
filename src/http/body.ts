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
  const text = decoded(await received(c, maxBytes))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  checkTree(value, 0)
  return value
}

/** Clients can send a body even where none is expected. */
export const hasBody = ({ req }: RequestContext): boolean =>
  Number(req.header('content-length') ?? 0) > 0 || req.header('transfer-encoding') !== undefined

async function received({ req }: RequestContext, maxBytes: number): Promise<Uint8Array> {
  const length = req.header('content-length')
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes)
  if (length !== undefined) return new Uint8Array(await req.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = req.raw.body?.getReader()
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    size += read.value.length
    chunks.push(read.value)
    if (size <= maxBytes) continue
    if (reader) void drain(reader)
    throw tooLarge(maxBytes)
  }
  return Buffer.concat(chunks)
}

/** Lets the client finish, so that it reads the answer; the connection ends it if it does not stop. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection was closed.
  }
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
  new HttpError(413, 'body_too_large', `The body must be at most ${maxBytes / 1024} kB.`)
