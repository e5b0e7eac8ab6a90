import * as z from 'zod'
import { Refusal, invalidField, invalidId } from '../../core/model/refusal.ts'
import { hashOf, type At } from '../../engine/door/door.ts'
import { HttpError } from './replies.ts'
import type { Call, RequestContext } from './route.ts'
import { INVALID_ID, id } from './schemas.ts'
import { problemIn, unknownKey } from '../../engine/toolsets/input.ts'

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

export function parseUrl<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  throw asQuery(invalidField(fieldOf(issue), problemIn(issue, raw)))
}

/** Turns an invalid cursor into a bad request. */
export async function pageOf<T>(page: Promise<T>): Promise<T> {
  try {
    return await page
  } catch (error) {
    if (!(error instanceof Refusal && error.is('invalid_field') && error.data.field === 'cursor')) throw error
    throw asQuery(error)
  }
}

export function parseBody<T>(schema: z.ZodType<T> | undefined, raw: unknown): T {
  const { issue, value } = attempt(schema, raw)
  if (!issue) return value as T
  if (issue.message === INVALID_ID) throw invalidId(fieldOf(issue))
  throw invalidField(fieldOf(issue), problemIn(issue, raw), hasRows(issue) ? Number(issue.path[1]) : undefined)
}

/** A fault in the URL is 400, not 422. */
const asQuery = ({ message, data }: Refusal): HttpError => new HttpError(400, 'invalid_request', message, { ...data })

function attempt<T>(schema: z.ZodType<T> | undefined, raw: unknown): { issue?: z.core.$ZodIssue; value?: T } {
  if (!schema) return {}
  const parsed = schema.safeParse(raw)
  if (parsed.success) return { value: parsed.data }
  const [issue] = parsed.error.issues
  return issue ? { issue } : {}
}

const ROWS: ReadonlySet<unknown> = new Set(['tasks', 'calls'])

const hasRows = ({ path: [list, row] }: z.core.$ZodIssue): boolean => ROWS.has(list) && typeof row === 'number'

function fieldOf(issue: z.core.$ZodIssue): string {
  const own = hasRows(issue) && issue.path.length > 2 ? issue.path.slice(2) : issue.path
  const named = own.slice(0, own.findLastIndex(step => typeof step === 'string') + 1)
  return unknownKey(issue) ?? (named.length > 0 ? z.core.toDotPath(named).slice(0, 64).toWellFormed() : 'body')
}

type Header = Call<unknown, unknown, unknown>['header']

export const idempotencyKey = z.object({
  'idempotency-key': id.optional().meta({ description: 'a repeated request gets the answer of the first one' }),
})

export const ifMatch = z.object({
  'if-match': z.string().meta({ description: 'the version that the change is based on' }),
})

export function keyIn(header: Header): string | undefined {
  const key = header('idempotency-key')
  if (key !== undefined && !id.safeParse(key).success) throw invalidId('Idempotency-Key')
  return key
}

export const onceFor = (key: string | undefined, body: unknown): At['once'] =>
  key === undefined ? undefined : { key: `http:${key}`, bodyHash: hashOf(body) }

/** Throws 428 if the version is missing. */
export function versionIn(header: Header, of: 'task' | 'message'): number {
  const raw = header('if-match')
  if (raw === undefined || raw.trim() === '') {
    const message = `If-Match is missing. Send the version of the ${of} that you change.`
    throw new HttpError(428, 'version_required', message, { field: 'if-match' })
  }
  const version = /^\s*(?:"(\d{1,15})"|(\d{1,15}))\s*$/.exec(raw)
  if (!version) {
    const message = `If-Match must be the version of the ${of}: a number.`
    throw new HttpError(400, 'invalid_request', message, { field: 'if-match' })
  }
  return Number(version[1] ?? version[2])
}
