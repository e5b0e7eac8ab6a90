import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { StoredEvent } from '../core/model/event.ts'
import { CHECK_OUTPUT } from '../core/proof/proof.ts'
import type { SnapshotAnswer, TransientEvent } from '../core/views/wire.ts'
import { RunsheetError, ask, type ClientOptions } from './http.ts'
import { apply, emptyConversation, type Conversation } from '../core/model/conversation.ts'
import { SNAPSHOT_VERSION, conversationOf, snapshotOf, type ConversationSnapshot } from '../core/model/snapshot.ts'
import { view, type View } from '../core/views/view.ts'

type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** A conversation that follows its log. `snapshot` returns the same object until something changes. */
export interface LiveConversation {
  readonly snapshot: () => LiveState
  readonly subscribe: (listener: () => void) => () => void
  /** Calls back for each stored event once it is applied, in order. */
  readonly onEvent: (listener: (event: StoredEvent) => void) => () => void
  /** Retries immediately instead of after the backoff. */
  readonly retry: () => void
  readonly close: () => void
}

/** How a live conversation connects and reconnects. */
export interface LiveOptions {
  /** The conversation does not exist yet: the first request waits for `retry`. */
  readonly isNew?: boolean
  /** The first backoff; it doubles up to `maxPauseMs`. */
  readonly pauseMs?: number
  readonly maxPauseMs?: number
  /** A stream without data for this long is reopened; heartbeats come every 15 s. */
  readonly silenceMs?: number
  /**
   * Reserves a connection for the stream and returns its release function, or nothing if none is free: then the
   * conversation is polled every two seconds. A browser opens at most six connections to a server.
   */
  readonly slot?: () => Promise<(() => void) | undefined>
}

const POLL_MS = 2_000
/** Statuses that a retry cannot change. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 403, 426])

export function liveConversation(options: ClientOptions, sessionId: string, more: LiveOptions = {}): LiveConversation {
  const live = new Live(options, sessionId, more)
  void live.run()
  return live
}

class Live implements LiveConversation {
  readonly #options: ClientOptions
  readonly #more: Required<Omit<LiveOptions, 'slot' | 'isNew'>> & Pick<LiveOptions, 'slot'>
  readonly #path: string
  readonly #listeners = new Set<() => void>()
  readonly #eventListeners = new Set<(event: StoredEvent) => void>()
  readonly #end = new AbortController()
  #folded: Folded
  #connection: Connection
  /** Built lazily, so that a burst of events costs one snapshot. */
  #shown: LiveState | undefined
  #isLoaded = false
  #pauses = 0
  #wake: () => void = () => {}

  constructor(options: ClientOptions, sessionId: string, more: LiveOptions) {
    this.#options = options
    this.#more = { pauseMs: 250, maxPauseMs: 5_000, silenceMs: 45_000, ...more }
    this.#path = `/api/sessions/${encodeURIComponent(sessionId)}`
    this.#folded = emptyFold(sessionId)
    this.#connection = { status: more.isNew ? 'waiting' : 'connecting', text: null, output: null, error: null }
  }

  readonly snapshot = (): LiveState => (this.#shown ??= liveState(this.#folded, this.#connection))

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly onEvent = (listener: (event: StoredEvent) => void): (() => void) => {
    this.#eventListeners.add(listener)
    return () => this.#eventListeners.delete(listener)
  }

  readonly retry = (): void => this.#wake()

  readonly close = (): void => {
    this.#end.abort()
    this.#wake()
    this.#set({ status: 'closed' })
  }

  async run(): Promise<void> {
    if (this.#connection.status === 'waiting') await new Promise<void>(resolve => (this.#wake = resolve))
    while (!this.#end.signal.aborted) {
      try {
        if (!this.#isLoaded) await this.#load()
        const release = await this.#more.slot?.()
        if (this.#more.slot && !release) {
          await this.#poll()
          continue
        }
        await this.#follow().finally(release)
        this.#set({ status: 'reconnecting' })
      } catch (error) {
        if (this.#end.signal.aborted) return
        if (!this.#canRetry(error)) return
      }
      await this.#backOff()
    }
  }

  /** Loads a snapshot at one seq; the stream continues from there. */
  async #load(): Promise<void> {
    const answer = (await this.#read('/snapshot', {}, body => new Response(body).json())) as SnapshotAnswer
    this.#isLoaded = true
    this.#set({ text: null, output: null }, foldOf(answer))
  }

  async #poll(): Promise<void> {
    this.#set({ status: 'live', error: null })
    await this.#rest(POLL_MS)
    if (!this.#end.signal.aborted) await this.#load()
  }

  #follow(): Promise<void> {
    const from = { 'last-event-id': String(this.#folded.conversation.seq), accept: 'text/event-stream' }
    return this.#read('/events', from, async body => {
      this.#pauses = 0
      this.#set({ status: 'live', error: null })
      const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
      for (const reader = events.getReader(); ; ) {
        const { done, value } = await reader.read()
        if (done || !this.#take(JSON.parse(value.data) as StoredEvent | TransientEvent)) return
      }
    })
  }

  /** Reads a response chunk by chunk: a silent connection is dropped, a slow one is not. */
  async #read<T>(path: string, headers: Record<string, string>, take: (body: Body) => Promise<T>): Promise<T> {
    const line = new AbortController()
    const cut = (): void => line.abort()
    this.#end.signal.addEventListener('abort', cut)
    const watchdog = new Watchdog(this.#more.silenceMs, cut)
    try {
      const { body } = await ask(this.#options, this.#path + path, { signal: line.signal, headers })
      return await take((body ?? new ReadableStream()).pipeThrough(watchdog.watched()))
    } finally {
      watchdog.stop()
      this.#end.signal.removeEventListener('abort', cut)
      line.abort()
    }
  }

  /** Applies one event; returns false if the stream has to be reopened. */
  #take(event: StoredEvent | TransientEvent): boolean {
    if ('seq' in event) return this.#fold(event)
    switch (event.type) {
      case 'text_snapshot':
        this.#show(event.data)
        return true
      case 'text_delta': {
        const { text, output } = this.#connection
        const { message_id } = event.data
        const isOutput = message_id === `${CHECK_OUTPUT}${output?.run_id}`
        const before = isOutput ? output?.text : text?.message_id === message_id ? text.text : ''
        this.#show({ message_id, text: `${before}${event.data.text}` })
        return true
      }
      case 'reset':
        // The server's log is not the log that was folded here.
        this.#isLoaded = false
        return false
      default:
        return true
    }
  }

  #show({ message_id, text }: { readonly message_id: string; readonly text: string }): void {
    const isOutput = message_id.startsWith(CHECK_OUTPUT)
    this.#set(
      isOutput ? { output: { run_id: message_id.slice(CHECK_OUTPUT.length), text } } : { text: { message_id, text } },
    )
  }

  #fold(event: StoredEvent): boolean {
    const { seq } = this.#folded.conversation
    if (event.seq <= seq) return true
    if (event.seq !== seq + 1) return false
    const isWritten = event.type === 'step_finished' || event.type === 'turn_finished'
    const written = isWritten ? { text: null } : event.type === 'check_ran' ? { output: null } : {}
    this.#set(written, folded(this.#folded, event))
    for (const listener of this.#eventListeners) listener(event)
    return true
  }

  /** Records the error; returns false if a retry cannot help. */
  #canRetry(error: unknown): boolean {
    const known = error instanceof RunsheetError ? error : null
    if (known?.status === 404) {
      this.#isLoaded = false
      this.#set({ status: 'waiting', error: null })
      return true
    }
    const isFinal = known !== null && FINAL.has(known.status)
    this.#set({ status: isFinal ? 'failed' : 'reconnecting', error: known })
    return !isFinal
  }

  async #backOff(): Promise<void> {
    const { pauseMs, maxPauseMs } = this.#more
    const asked = this.#connection.error?.retryAfterMs ?? 0
    const usual = Math.min(maxPauseMs, pauseMs * 2 ** this.#pauses)
    this.#pauses = Math.min(this.#pauses + 1, 16)
    // Jitter, so that clients do not all reconnect at the same moment.
    const ms = Math.max(asked, usual / 2) + (usual / 2) * Math.random()
    await this.#rest(ms)
  }

  #rest(ms: number): Promise<void> {
    return new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #set(change: Partial<Connection>, folded = this.#folded): void {
    if (this.#connection.status === 'closed') return
    this.#connection = { ...this.#connection, ...change }
    this.#folded = folded
    this.#shown = undefined
    for (const listener of this.#listeners) listener()
  }
}

/** The state of a live conversation as plain, serialisable data. */
export interface LiveState extends View {
  /** `waiting`: the conversation does not exist yet. `failed`: a retry cannot help; `error` says why. */
  readonly status: 'connecting' | 'live' | 'reconnecting' | 'waiting' | 'failed' | 'closed'
  readonly conversation: ConversationSnapshot
  /** The text of the message that is being streamed. */
  readonly text: { readonly message_id: string; readonly text: string } | null
  /** The end of the running check's output. */
  readonly output: { readonly run_id: string; readonly text: string } | null
  readonly error: RunsheetError | null
}

export type Connection = Pick<LiveState, 'status' | 'text' | 'output' | 'error'>

export interface Folded {
  readonly conversation: Conversation
  readonly view: View
}

/** Copies `view.initial` so that `useConversation` does not load the code that folds events. */
const NOTHING: View = {
  title: null,
  messages: [],
  resolutions: {},
  limited: { turns: [], max_steps: null },
  added: {},
  before: {},
  work: {},
  thread: {},
}

export const emptyFold = (sessionId: string): Folded => ({
  conversation: emptyConversation(sessionId),
  view: NOTHING,
})

export function foldOf(answer: SnapshotAnswer): Folded {
  if (answer.conversation.version !== SNAPSHOT_VERSION) {
    const message = 'The server has another version than this client. Reload the page, or update the package.'
    throw new RunsheetError(426, { code: 'upgrade_required', message })
  }
  return { conversation: conversationOf(answer.conversation), view: answer.view }
}

export const folded = (before: Folded, event: StoredEvent): Folded => ({
  conversation: apply(before.conversation, event),
  view: view.apply(before.view, event),
})

export const liveState = ({ conversation, view }: Folded, connection: Connection): LiveState => ({
  ...view,
  ...connection,
  conversation: shown(conversation),
})

const SHOWN = new WeakMap<Conversation, ConversationSnapshot>()

/** Cached per state, so that streamed text does not change the snapshot. */
function shown(conversation: Conversation): ConversationSnapshot {
  const snapshot = SHOWN.get(conversation) ?? snapshotOf(conversation)
  SHOWN.set(conversation, snapshot)
  return snapshot
}

export const initialState = (sessionId: string, status: LiveState['status'] = 'connecting'): LiveState =>
  liveState(emptyFold(sessionId), { status, text: null, output: null, error: null })

/** Calls back when a stream is silent for too long: a dead connection does not always close. */
export class Watchdog {
  readonly #ms: number
  readonly #onSilence: () => void
  #timer: ReturnType<typeof setTimeout>

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms
    this.#onSilence = onSilence
    this.#timer = setTimeout(onSilence, ms)
  }

  /** Passes chunks through; each one restarts the timer. */
  watched(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
    return new TransformStream({
      transform: (chunk, controller) => {
        this.stop()
        this.#timer = setTimeout(this.#onSilence, this.#ms)
        controller.enqueue(chunk)
      },
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
