import { createHash, type Hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { apply, type Conversation, emptyConversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import { eventProblem } from '../domain/log-check.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Template, templateOf } from '../domain/template.ts'
import { eventShape, parserOf, shape } from '../http/shapes.ts'
import type { ConversationHeader } from '../door/conversations.ts'
import { formatProblem, header as headerSchema, versionProblem } from './export-format.ts'
import { type Line, LineError, linesOf } from './line-reader.ts'

/** A template, or a conversation whose events must be read before the next part. */
export type Part =
  | { readonly template: Template }
  | { readonly header: ConversationHeader; readonly events: Generator<StoredEvent, Conversation> }

/**
 * Streams an export part by part and verifies form, counts, checksums, every event's schema, and the log by folding it.
 * Throws a `LineError` at the first fault; parts already yielded are valid.
 */
export function* partsOf(path: string): Generator<Part> {
  const lines = new Lines(path)
  try {
    const first = lines.header()
    if (first.format === 'runsheet-log') yield conversationIn(lines, first)
    else {
      yield* templatesIn(lines, first)
      for (let left = first.conversations; left > 0; left -= 1) yield conversationIn(lines, conversationHeader(lines))
    }
    lines.end()
  } finally {
    lines.close()
  }
}

/** True if the file has, or may have, more than one conversation. */
export function isArchive(path: string): boolean {
  const lines = new Lines(path)
  try {
    return lines.header().format === 'runsheet-logs'
  } finally {
    lines.close()
  }
}

function conversationIn(lines: Lines, header: ConversationHeader): Part {
  return { header, events: eventsIn(lines, header) }
}

function conversationHeader(lines: Lines): ConversationHeader {
  const header = lines.header()
  if (header.format === 'runsheet-log') return header
  throw lines.error('the first line of a conversation was expected')
}

function* eventsIn(lines: Lines, header: ConversationHeader): Generator<StoredEvent, Conversation> {
  const hash = createHash('sha256')
  let state = emptyConversation(header.session_id)
  for (let left = header.events; left > 0; left -= 1) {
    const event = eventOf(lines, lines.next(hash))
    const problem = eventProblem(state, event)
    if (problem !== undefined) throw lines.error(problem)
    state = apply(state, event)
    yield event
  }
  lines.check(hash, header.sha256)
  return state
}

const rawEvent = z.looseObject({ type: z.string() })

/** Returns the event as written; the schema only validates. */
function eventOf(lines: Lines, value: unknown): StoredEvent {
  const event = lines.parsed(rawEvent, value) as StoredEvent
  const parser = EVENTS.get(event.type) ?? parserOfEvent(event.type)
  if (!parser) throw lines.error(`type: there is no event ${event.type}`)
  lines.parsed(parser, event)
  return value as StoredEvent
}

const EVENTS = new Map<string, z.ZodType>()

function parserOfEvent(type: string): z.ZodType | undefined {
  const known = eventShape(type)
  const parser = known && parserOf(known, true)
  if (parser) EVENTS.set(type, parser)
  return parser
}

function* templatesIn(lines: Lines, { templates, sha256 }: { templates: number; sha256: string }): Generator<Part> {
  const hash = createHash('sha256')
  const parser = parserOf(shape('Template'), true)
  for (let left = templates; left > 0; left -= 1) {
    const value = lines.next(hash)
    const { name, tasks } = lines.parsed(parser, value) as Template
    const template = templateOf(name, tasks)
    if (template instanceof Refusal) throw lines.error(template.message)
    if (!isDeepStrictEqual(template, value)) throw lines.error('it is not a template as it was saved')
    // As written, with the file's order of fields.
    yield { template: value as Template }
  }
  lines.check(hash, sha256)
}

class Lines {
  readonly #lines: Generator<Line>
  #number = 0

  constructor(path: string) {
    this.#lines = linesOf(path)
  }

  header(): z.output<typeof headerSchema> {
    const value = this.next()
    const notOurs = formatProblem(value)
    if (notOurs !== undefined) throw this.error(notOurs)
    const header = this.parsed(headerSchema, value)
    const problem = versionProblem(header)
    if (problem !== undefined) throw this.error(problem)
    return header
  }

  /** Parses the next line as JSON and adds its bytes to the checksum. */
  next(hash?: Hash): unknown {
    const next = this.#lines.next()
    this.#number += 1
    if (next.done) throw this.error('the file ends here, but there should be more')
    const { text } = next.value
    const problem = encodingProblem(text)
    if (problem !== undefined) throw this.error(problem)
    hash?.update(`${text}\n`)
    try {
      return JSON.parse(text)
    } catch {
      throw this.error('it is not JSON')
    }
  }

  parsed<T>(schema: z.ZodType<T>, value: unknown): T {
    const { success, data, error } = schema.safeParse(value)
    if (success) return data
    const [issue] = error.issues
    const where = issue?.path.join('.') ?? ''
    throw this.error(`${where === '' ? '' : `${where}: `}${issue?.message ?? 'it is not valid'}`)
  }

  check(hash: Hash, expected: string): void {
    if (hash.digest('hex') !== expected) throw this.error('what ends here does not have its checksum')
  }

  end(): void {
    if (this.#lines.next().done) return
    this.#number += 1
    throw this.error('there is more than the first line says')
  }

  error(problem: string): LineError {
    return new LineError(this.#number, problem)
  }

  close(): void {
    this.#lines.return(undefined)
  }
}

/** Editors may re-encode a file: its JSON might still parse, but the checksums would not match. */
function encodingProblem(text: string): string | undefined {
  if (text.startsWith('\uFEFF')) return 'it begins with a byte order mark. Save the file as UTF-8 without one'
  return text.endsWith('\r') ? 'it ends with CR LF. Save the file with line ends of LF only' : undefined
}
