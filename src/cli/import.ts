import { createHash, type Hash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { v7 } from 'uuid'
import * as z from 'zod'
import { apply, emptyConversation, type Conversation } from '../core/model/conversation.ts'
import type { StoredEvent } from '../core/model/event.ts'
import { eventProblem, renamedLog } from '../core/model/log.ts'
import { Refusal } from '../core/model/refusal.ts'
import { templateOf, type Template } from '../core/model/template.ts'
import { isId } from '../core/model/text.ts'
import { lineOf, type ConversationHeader } from '../engine/door/conversations.ts'
import { eventShape, parserOf, shape } from '../server/http/openapi.ts'
import { commitOf, type Commit, type FullStore, type Ref } from '../store/store.ts'
import { CliError, reasonOf } from './cli-error.ts'
import { DataFolder } from './server/data-folder.ts'
import type { Environment } from './environment.ts'
import { formatProblem, header as headerSchema, versionProblem } from './export.ts'
import { checkStore, openWritableStore, storeLabel, storeLocation, type StoreOptions } from './server/open-store.ts'
import { counted } from './terminal/output.ts'

interface ImportOptions extends StoreOptions {
  readonly file: string
  readonly as?: string
  readonly tenant: string
  readonly environment: Environment
}

const PAGE = 100

/**
 * Imports one conversation or an archive. The whole file is verified before the first write, and again during it; each
 * conversation is written in one transaction.
 */
export async function readImport(options: ImportOptions): Promise<void> {
  const { file, environment } = options
  checkOptions(options)
  try {
    const checked = checkFile(options)
    const folder = storeLocation(options.store) === 'folder' ? new DataFolder(options.data, environment) : undefined
    // `--store memory` was refused above.
    const store = (await openWritableStore(options)) as FullStore
    try {
      console.log(await new Importer(store, options, checked).run())
    } finally {
      await store.close()
    }
    for (const line of folder?.warnings ?? []) console.error(line)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`cannot import ${file}: ${reasonOf(error)}`)
  }
}

function checkOptions({ store, as, file }: ImportOptions): void {
  checkStore(store)
  if (store === 'memory') throw new CliError('the memory store keeps nothing that is imported.')
  if (as !== undefined && !isId(as)) throw new CliError('--as must be 1 to 128 letters, digits, - or _.')
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new CliError(`there is no file ${file}.`)
}

interface Checked {
  readonly isArchive: boolean
  readonly templates: readonly Template[]
  readonly conversations: ReadonlyMap<string, ConversationHeader>
}

/** First pass: verifies the file without a store. */
function checkFile({ file, as }: ImportOptions): Checked {
  const archive = isArchive(file)
  if (as !== undefined && archive) throw new CliError('--as is for an export of one conversation.')
  const templates: Template[] = []
  const conversations = new Map<string, ConversationHeader>()
  for (const part of partsOf(file)) {
    if ('template' in part) templates.push(part.template)
    else {
      const { session_id } = part.header
      if (conversations.has(session_id)) throw new CliError(`${file} has the conversation ${session_id} twice.`)
      conversations.set(session_id, part.header)
      const { running_turn } = ended(part.events)
      if (as !== undefined && running_turn !== null) throw stillRunning(running_turn)
    }
  }
  return { isArchive: archive, templates, conversations }
}

class Importer {
  readonly #store: FullStore
  readonly #options: ImportOptions
  readonly #checked: Checked
  /** Conversations that an earlier import of this archive wrote. */
  readonly #present = new Set<string>()
  #conversations = 0
  #events = 0

  constructor(store: FullStore, options: ImportOptions, checked: Checked) {
    this.#store = store
    this.#options = options
    this.#checked = checked
  }

  async run(): Promise<string> {
    const { file, store } = this.#options
    for (const template of this.#checked.templates) await this.#compareTemplate(template)
    for (const header of this.#checked.conversations.values()) await this.#compare(header)
    for (const part of partsOf(file)) {
      if ('template' in part) await this.#store.templates.put(this.#options.tenant, part.template)
      else if (this.#present.has(part.header.session_id)) ended(part.events)
      else await this.#write(part.header, part.events)
    }
    const present = this.#present.size > 0 ? `; ${counted(this.#present.size, 'conversation')} there already` : ''
    const written = `${counted(this.#conversations, 'conversation')}, ${counted(this.#events, 'event')}`
    return `Imported ${written} to ${storeLabel(store)}${present}`
  }

  async #write({ session_id, events: count }: ConversationHeader, events: Iterable<StoredEvent>): Promise<void> {
    const { as } = this.#options
    const renamed = as === undefined ? events : mapped(events, renamedLog(as, v7))
    await this.#store.importLog(this.#ref(as ?? session_id), commitsOf(renamed))
    this.#conversations += 1
    this.#events += count
  }

  /** Refuses an existing conversation before anything is written, unless an archive holds an identical one. */
  async #compare({ session_id, events, sha256 }: ConversationHeader): Promise<void> {
    const ref = this.#ref(this.#options.as ?? session_id)
    const found = await this.#store.queries.conversation(ref)
    if (!found) return
    if (!this.#checked.isArchive) throw exists(ref.conversation, 'Import it under another id with --as.')
    if (found.seq !== events || (await this.#checksum(ref)) !== sha256) {
      throw exists(ref.conversation, 'It has another log; nothing was imported.')
    }
    this.#present.add(session_id)
  }

  async #compareTemplate(template: Template): Promise<void> {
    const found = await this.#store.templates.get(this.#options.tenant, template.name)
    if (found && !isDeepStrictEqual(found, template)) {
      throw new CliError(`there is a template ${template.name} already, with other rows; nothing was imported.`)
    }
  }

  async #checksum(ref: Ref): Promise<string> {
    const hash = createHash('sha256')
    for (let seq = 0; ; ) {
      const events = await this.#store.eventsAfter(ref, seq, PAGE)
      if (events.length === 0) return hash.digest('hex')
      for (const event of events) hash.update(lineOf(event))
      seq += events.length
    }
  }

  #ref(conversation: string): Ref {
    return { tenant: this.#options.tenant, conversation }
  }
}

function ended(events: Generator<StoredEvent, Conversation>): Conversation {
  for (;;) {
    const { done, value } = events.next()
    if (done) return value
  }
}

function* mapped<T, U>(items: Iterable<T>, map: (item: T) => U): Generator<U> {
  for (const item of items) yield map(item)
}

/** Events of a commit share a timestamp that no other commit has [EV5]. */
function* commitsOf(events: Iterable<StoredEvent>): Generator<Commit> {
  let commit: StoredEvent[] = []
  for (const event of events) {
    if (commit.length > 0 && commit[0]?.timestamp !== event.timestamp) {
      yield commitOf(commit)
      commit = []
    }
    commit.push(event)
  }
  if (commit.length > 0) yield commitOf(commit)
}

const exists = (conversation: string, hint: string): CliError =>
  new CliError(`there is a conversation ${conversation} already. ${hint}`)

const stillRunning = (turn: string): CliError =>
  new CliError(
    `turn ${turn} was running when it was exported: a copy would do its work twice. Export it again when the turn has ended.`,
  )

/** A template, or a conversation whose events must be read before the next part. */
type Part =
  | { readonly template: Template }
  | { readonly header: ConversationHeader; readonly events: Generator<StoredEvent, Conversation> }

/**
 * Streams an export part by part and verifies form, counts, checksums, every event's schema, and the log by folding it.
 * Throws at the first fault; parts already yielded are valid.
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
function isArchive(path: string): boolean {
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
  readonly #lines: Generator<string>
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
    hash?.update(`${next.value}\n`)
    try {
      return JSON.parse(next.value)
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

  error(problem: string): Error {
    return new Error(`line ${this.#number}: ${problem}`)
  }

  close(): void {
    this.#lines.return(undefined)
  }
}

const CHUNK = 1 << 18

/** An editor that re-encodes the file changes its checksums. */
function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(CHUNK)
    let rest = Buffer.alloc(0)
    for (let length = -1; length !== 0; ) {
      length = readSync(file, chunk, 0, CHUNK, null)
      rest = Buffer.concat([rest, chunk.subarray(0, length)])
      let start = 0
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, start)) {
        yield rest.toString('utf8', start, end)
        start = end + 1
      }
      rest = rest.subarray(start)
    }
    if (rest.length > 0) yield rest.toString('utf8')
  } finally {
    closeSync(file)
  }
}
