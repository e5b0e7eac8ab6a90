import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { v7 } from 'uuid'
import type { Conversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import { renamedLog } from '../domain/renamed-log.ts'
import type { Template } from '../domain/template.ts'
import { isId } from '../domain/text.ts'
import { type Commit, commitOf } from '../store/commit.ts'
import type { FullStore, Ref } from '../store/store.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { counted } from './counted.ts'
import { DataFolder } from './data-folder.ts'
import { type ConversationHeader, lineOf } from '../door/conversations.ts'
import { isArchive, partsOf } from './export-reader.ts'
import { checkStore, openWritableStore, storeLabel, storeLocation, type StoreOptions } from './open-store.ts'
import { reasonOf } from './reason.ts'

export interface ImportOptions extends StoreOptions {
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
