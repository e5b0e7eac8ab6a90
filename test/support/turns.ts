import { realpathSync } from 'node:fs'
import { createParser } from 'eventsource-parser'
import { v7 } from 'uuid'
import { inject } from 'vitest'
import { redactor } from '../../src/core/text/redact.ts'
import type { Models } from '../../src/engine/turn/given-models.ts'
import { LocalWorkspaces } from '../../src/checks/local-workspaces.ts'
import { configuredModels } from '../../src/models/models.ts'
import { givenTools, type OutsideLimits, type OutsideTool, type OutsideTools } from '../../src/engine/worker/outside.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import type { Client } from '../../src/client/client.ts'
import type { CommandOf } from '../../src/core/model/command.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { PolicyPatch, ToolsetName } from '../../src/core/model/policy.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import type { Task } from '../../src/core/model/task.ts'
import type { SavedRules } from '../../src/core/model/tool-approval.ts'
import type { Page } from '../../src/server/http/page.ts'
import type { ServerTools } from '../../src/server/http/route.ts'
import { openDoor, type Door } from '../../src/engine/door/door.ts'
import { Provider, type Answers } from './provider.ts'
import { TOKENS, startServer, type TestServer } from './server.ts'
import type { Frame, Streamed } from './sse.ts'
import { placeFor, type StoreKind } from './stores.ts'

export interface TurnsOptions {
  readonly store?: StoreKind
  /** Used instead of a new one; closed with the server. */
  readonly door?: Door
  readonly answers?: Answers
  readonly assessor?: Answers
  /** Used instead of the provider's. */
  readonly models?: Models
  /** Another model for the assessor. */
  readonly assessorModel?: string
  readonly outside?: OutsideTools | readonly OutsideTool[]
  readonly limits?: OutsideLimits
  /** What a person has said about tools. */
  readonly rules?: () => SavedRules
  /** The tools part of the server. */
  readonly tools?: ServerTools
  readonly instructions?: string
  /** The policy of new conversations. */
  readonly host?: PolicyPatch
  /** The page to serve. */
  readonly page?: Page
  readonly leaseMs?: number
  readonly retryMs?: number
  readonly silenceMs?: number
  /** The folder in which checks run. */
  readonly workspace?: string
  /** The folder of held-out files. */
  readonly heldOut?: string
  /** Starts turns without driving them. */
  readonly isIdle?: boolean
}

export interface ChatBody {
  readonly session_id?: string
  readonly turn_id?: string
  readonly message?: string
  readonly model?: string
  readonly toolset?: ToolsetName
  readonly review?: boolean
  readonly assessor?: boolean
  readonly gate?: boolean
  readonly continue_turn_id?: string
}
export type Decision = CommandOf<'decide_review'>['decision']
/** The decision on each review; undefined leaves it pending. */
export type Decide = (review: ReviewRequest, count: number) => Decision | undefined

export const MODEL = 'openai-compatible:test'

/** A reader of the stream of `POST /api/chat`. */
export class ChatReader {
  readonly frames: Frame[] = []
  readonly status: number
  readonly response: Response
  isOver = false
  /** Resolves when the stream ends, from either side. */
  readonly over: Promise<void>
  readonly #looks = new Set<() => void>()
  readonly #leave: AbortController

  constructor(response: Response, leave: AbortController) {
    this.response = response
    this.status = response.status
    this.#leave = leave
    this.over = this.#read()
  }

  /** The stored events so far. */
  get events(): StoredEvent[] {
    return this.frames.filter(({ id }) => id !== undefined).map(({ data }) => data as unknown as StoredEvent)
  }

  get types(): string[] {
    return this.events.map(({ type }) => type)
  }

  of<T extends StoredEvent['type']>(type: T): Extract<StoredEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<StoredEvent, { type: T }> => event.type === type)
  }

  /** Events without an id. */
  asides(...types: readonly string[]): Streamed[] {
    return this.frames.flatMap(({ id, data }) => (id === undefined && types.includes(data.type) ? [data] : []))
  }

  /** Resolves once it holds; rejects if the stream ends first. */
  until(holds: (reader: this) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (holds(this)) resolve()
        else if (this.isOver) reject(new Error(`the line ended first, after: ${this.types.join(', ')}`))
        else return
        this.#looks.delete(look)
      }
      this.#looks.add(look)
      look()
    })
  }

  reached(type: StoredEvent['type'], count = 1): Promise<void> {
    return this.until(() => this.of(type).length >= count)
  }

  /** Hangs up. */
  leave(): void {
    this.#leave.abort()
  }

  async #read(): Promise<void> {
    const parser = createParser({
      onEvent: ({ id, event, data }) => this.frames.push({ id, event, data: JSON.parse(data) as Streamed }),
    })
    const decoder = new TextDecoder()
    try {
      if (this.status === 200) {
        for await (const chunk of this.response.body ?? []) {
          parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }))
          this.#look()
        }
      }
    } catch {
      // Cut by either side: what arrived is kept.
    }
    this.isOver = true
    this.#look()
  }

  #look(): void {
    for (const look of this.#looks) look()
  }
}

/** For tests: a server that drives turns, and their provider. */
export interface TestTurns extends TestServer, Chat {
  readonly provider: Provider
  readonly runner: Worker
  /** The runner's errors. */
  readonly complaints: readonly unknown[]
  /** The whole log of a conversation. */
  readonly log: (session?: string) => Promise<readonly StoredEvent[]>
  readonly tasks: (session?: string) => Promise<readonly Task[]>
  /** Status by title, in list order. */
  readonly statuses: (session?: string) => Promise<[string, string][]>
  readonly stopRunner: () => Promise<void>
}

export const confirmAll: Decide = review => confirmed(review)
export const rejectAll: Decide = () => ({ action: 'cancel', reason: 'user_cancelled' })

/** Confirms every row as drafted, and approves its checks. */
export const approveAll: Decide = ({ draft_tasks }) => ({
  action: 'confirm',
  tasks: draft_tasks.map(({ title, checks = [] }, draft_index) => ({
    title,
    draft_index,
    approve: checks.map(({ hash }) => hash),
  })),
})

/** Confirms every row as drafted. */
export const confirmed = ({ draft_tasks }: ReviewRequest, comment?: string): Decision => ({
  action: 'confirm',
  tasks: draft_tasks.map(({ title }, draft_index) => ({ title, draft_index })),
  ...(comment === undefined ? {} : { comment }),
})

export async function startTurns(options: TurnsOptions = {}): Promise<TestTurns> {
  // The page uses what the memory store does not have.
  const { store = options.page ? 'sqlite' : 'memory', answers, assessor, host, isIdle = false } = options
  const provider = await Provider.start(answers, assessor)
  const models =
    options.models ??
    (await configuredModels({ model: MODEL, assessor: options.assessorModel, url: provider.url, key: 'k' }))
  const place = await placeFor(store, store === 'postgres' ? inject('postgresUrl') : '')
  const workspaces = options.workspace === undefined ? undefined : workspacesIn(options.workspace, options.heldOut)
  const door = options.door ?? openDoor({ store: await place.open(), ...(workspaces ? { checks: workspaces } : {}) })
  const complaints: unknown[] = []
  const runner: Worker = new Worker({
    door,
    models,
    workspaces,
    retryMs: options.retryMs ?? 1,
    ...(options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs }),
    onText: (ref, shown) => server.server.showText(ref, shown),
    onError: error => complaints.push(error),
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.rules ? { rules: options.rules } : {}),
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
    ...(options.outside ? { outside: 'list' in options.outside ? options.outside : givenTools(options.outside) } : {}),
  })
  const take = (ref: { tenant: string; conversation: string }, turn: string): void => {
    if (!isIdle) void runner.take(ref, turn).catch(error => complaints.push(error))
  }
  const server: TestServer = await startServer({
    door,
    turns: { names: models.names, defaultName: models.defaultName, take },
    ...(host ? { host } : {}),
    ...(options.page ? { page: options.page } : {}),
    ...(options.tools ? { tools: options.tools } : {}),
  })
  if (!isIdle) runner.start()
  let isRunning = true
  const stopRunner = async (): Promise<void> => {
    if (isRunning) await runner.close()
    isRunning = false
  }
  const { open, chat } = chatAt(server)
  const log = (session = 'c1'): Promise<readonly StoredEvent[]> =>
    door.conversations.eventsAfter({ tenant: 'local', conversation: session }, 0, 100_000)
  const tasks = async (session = 'c1'): Promise<readonly Task[]> => (await server.person.tasks(session)).tasks
  return {
    ...server,
    provider,
    runner,
    complaints,
    open,
    chat,
    log,
    tasks,
    statuses: async session => (await tasks(session)).map(({ title, status }) => [title, status]),
    stopRunner,
    close: async () => {
      await stopRunner()
      await server.close()
      await place.remove()
      await provider.close()
    },
  }
}

const workspacesIn = (folder: string, heldOut: string | undefined): LocalWorkspaces =>
  new LocalWorkspaces({
    workspaces: [{ machine: 'here', path: realpathSync(folder) }],
    machine: () => 'here',
    environment: process.env,
    dataFolder: '/nowhere',
    redact: redactor(),
    newId: v7,
    held_out: heldOut,
  })

export interface Chat {
  /** Starts a turn, or attaches to it; resolves with the headers. Missing fields get defaults. */
  readonly open: (body?: ChatBody, decide?: Decide) => Promise<ChatReader>
  /** The same, to the end of its stream. */
  readonly chat: (body?: ChatBody, decide?: Decide) => Promise<ChatReader>
}

/** For tests: a person who chats with the server at `url`, and decides what its streams ask for. */
export function chatAt({ url, person }: { readonly url: URL; readonly person: Client }): Chat {
  const open = async (body: ChatBody = {}, decide?: Decide): Promise<ChatReader> => {
    const leave = new AbortController()
    const response = await fetch(new URL('/api/chat', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.person}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 'c1', turn_id: 't1', message: 'Do it.', ...body }),
      signal: leave.signal,
    })
    const reader = new ChatReader(response, leave)
    if (decide) void deciding(person, reader, decide)
    return reader
  }
  const chat = async (body?: ChatBody, decide?: Decide): Promise<ChatReader> => {
    const reader = await open(body, decide)
    await reader.over
    return reader
  }
  return { open, chat }
}

async function deciding(person: Client, reader: ChatReader, decide: Decide): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      await reader.reached('task_create_review_required', count + 1)
    } catch {
      return
    }
    const review = reader.of('task_create_review_required').at(count)
    const decision = review && decide(review.data, count)
    if (review && decision) await person.decide(review.data.review_id, decision)
  }
}
