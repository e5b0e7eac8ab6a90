import { EventSourceParserStream } from 'eventsource-parser/stream'
import { apply, type Conversation, emptyConversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import { limitedBy } from '../domain/limited.ts'
import { titleIn } from '../domain/title.ts'
import { type Message, withSpoken } from '../domain/transcript.ts'
import type { SessionAnswer } from '../domain/wire.ts'
import { RunsheetError } from './errors.ts'
import { ask, askJson, type ClientOptions } from './http.ts'
import { conversationOf } from './state.ts'

export interface LiveState {
  /** `waiting`: there is no such conversation yet. `failed`: it makes no sense to try again; `error` says why. */
  readonly status: 'connecting' | 'live' | 'reconnecting' | 'waiting' | 'failed' | 'closed'
  readonly conversation: Conversation
  readonly title: string | null
  /** The turns that a limit ended. */
  readonly limited: ReadonlySet<string>
  readonly messages: readonly Message[]
  /** The text of the step that is being written. */
  readonly text: { readonly message_id: string; readonly text: string } | null
  readonly error: RunsheetError | null
}

/** A conversation as it is and as it changes. Subscribe, and read the snapshot: the same object until something changes. */
export interface LiveConversation {
  readonly snapshot: () => LiveState
  readonly subscribe: (listener: () => void) => () => void
  /** Every stored event once it is applied, in order. */
  readonly onEvent: (listener: (event: StoredEvent) => void) => () => void
  /** Looks at once instead of when the pause is over. */
  readonly retry: () => void
  readonly close: () => void
}

export interface LiveOptions {
  /** Nobody has said anything in it yet: it waits for `retry` before it looks. */
  readonly isNew?: boolean
  /** The first pause before trying again; it doubles up to `maxPauseMs`. */
  readonly pauseMs?: number
  readonly maxPauseMs?: number
  /** A line that is silent for so long is taken for dead: heartbeats come every 15 s. */
  readonly silenceMs?: number
  /**
   * Asked before a stream is opened: what to call once it is closed, or nothing where there is no room for one more.
   * Browsers open six connections to a server; who gets none looks again every two seconds instead.
   */
  readonly slot?: () => Promise<(() => void) | undefined>
}

/** How often one looks who has no room to follow. */
const LOOK_EVERY_MS = 2_000
/** What trying again does not help against. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 403])

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
  #state: LiveState
  #known = false
  #pauses = 0
  #wake: () => void = () => {}

  constructor(options: ClientOptions, sessionId: string, more: LiveOptions) {
    this.#options = options
    this.#more = { pauseMs: 250, maxPauseMs: 5_000, silenceMs: 45_000, ...more }
    this.#path = `/api/sessions/${encodeURIComponent(sessionId)}`
    const conversation = emptyConversation(sessionId)
    const status = more.isNew ? 'waiting' : 'connecting'
    this.#state = { status, conversation, title: null, limited: new Set(), messages: [], text: null, error: null }
  }

  readonly snapshot = (): LiveState => this.#state

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
    if (this.#state.status === 'waiting') await new Promise<void>(resolve => (this.#wake = resolve))
    while (!this.#end.signal.aborted) {
      try {
        if (!this.#known) await this.#load()
        const release = await this.#more.slot?.()
        if (this.#more.slot && !release) {
          await this.#lookInstead()
          continue
        }
        await this.#follow().finally(release)
        this.#set({ status: 'reconnecting' })
      } catch (error) {
        if (this.#end.signal.aborted) return
        if (!this.#note(error)) return
      }
      await this.#pause()
    }
  }

  /** Everything as of one seq; events go on from there. */
  async #load(): Promise<void> {
    // A server that takes the question and says nothing is given up like a line that went silent.
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(this.#more.silenceMs)])
    const answer = await askJson<SessionAnswer>(this.#options, this.#path, { signal })
    this.#known = true
    this.#set({
      conversation: conversationOf(answer),
      title: answer.session.title,
      limited: new Set(answer.turns.flatMap(({ turn_id, limit_reached }) => (limit_reached ? turn_id : []))),
      messages: answer.messages,
      text: null,
    })
  }

  /** Without a stream of its own: everything anew, after a while. */
  async #lookInstead(): Promise<void> {
    this.#set({ status: 'live', error: null })
    await this.#rest(LOOK_EVERY_MS)
    if (!this.#end.signal.aborted) await this.#load()
  }

  async #follow(): Promise<void> {
    const line = new AbortController()
    const cut = (): void => line.abort()
    this.#end.signal.addEventListener('abort', cut)
    const watch = new Watchdog(this.#more.silenceMs, cut)
    try {
      const response = await ask(this.#options, `${this.#path}/events`, {
        signal: line.signal,
        headers: { 'last-event-id': String(this.#state.conversation.seq), accept: 'text/event-stream' },
      })
      this.#pauses = 0
      this.#set({ status: 'live', error: null })
      const events = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>())
        .pipeThrough(watch.watched())
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream())
      for (const reader = events.getReader(); ; ) {
        const { done, value } = await reader.read()
        if (done || !this.#take(JSON.parse(value.data) as StreamedEvent)) return
      }
    } finally {
      watch.stop()
      this.#end.signal.removeEventListener('abort', cut)
      line.abort()
    }
  }

  /** Takes what the stream brings; false where it has to begin anew. */
  #take(event: StreamedEvent): boolean {
    if (event.seq !== undefined) return this.#fold(event)
    const { type, data } = event
    if (type === 'text_snapshot') this.#set({ text: data })
    if (type === 'text_delta') {
      const { text } = this.#state
      const before = text?.message_id === data.message_id ? text.text : ''
      this.#set({ text: { message_id: data.message_id, text: before + data.text } })
    }
    if (type !== 'reset') return true
    // The log is another one than we knew.
    this.#known = false
    return false
  }

  #fold(event: StoredEvent): boolean {
    const { conversation, title, limited, messages, text } = this.#state
    if (event.seq <= conversation.seq) return true
    if (event.seq !== conversation.seq + 1) return false
    const isWritten = event.type === 'step_finished' || event.type === 'turn_finished'
    const isLimited = limitedBy(event, conversation.policy)
    this.#set({
      conversation: apply(conversation, event),
      title: title ?? titleIn([event]),
      limited: isLimited === undefined ? limited : new Set(limited).add(isLimited),
      messages: withSpoken(messages, event),
      text: isWritten ? null : text,
    })
    for (const listener of this.#eventListeners) listener(event)
    return true
  }

  /** Remembers what went wrong; false where trying again is no use. */
  #note(error: unknown): boolean {
    const known = error instanceof RunsheetError ? error : null
    if (known?.status === 404) {
      this.#known = false
      this.#set({ status: 'waiting', error: null })
      return true
    }
    const final = known !== null && FINAL.has(known.status)
    this.#set({ status: final ? 'failed' : 'reconnecting', error: known })
    return !final
  }

  async #pause(): Promise<void> {
    const { pauseMs, maxPauseMs } = this.#more
    const asked = this.#state.error?.retryAfterMs ?? 0
    const usual = Math.min(maxPauseMs, pauseMs * 2 ** this.#pauses)
    this.#pauses = Math.min(this.#pauses + 1, 16)
    // Not all of them at the same moment, when a server comes back.
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

  #set(change: Partial<LiveState>): void {
    if (this.#state.status === 'closed') return
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}

type StreamedEvent =
  | StoredEvent
  | {
      readonly seq?: undefined
      readonly type: string
      readonly data: { readonly message_id: string; readonly text: string }
    }

/** Notices a line that has gone quiet without anybody hanging up. */
class Watchdog {
  readonly #ms: number
  readonly #bark: () => void
  #timer: ReturnType<typeof setTimeout>

  constructor(ms: number, bark: () => void) {
    this.#ms = ms
    this.#bark = bark
    this.#timer = setTimeout(bark, ms)
  }

  watched(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
    return new TransformStream({
      transform: (chunk, controller) => {
        this.stop()
        this.#timer = setTimeout(this.#bark, this.#ms)
        controller.enqueue(chunk)
      },
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
