import { refKey, type Door, type LiveEntry, type Ref } from '../../engine/door/door.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Role } from './access.ts'
import type { Release } from './limits.ts'
import { Channel } from './channel.ts'
import { framedAside } from './frames.ts'
import { SAFE } from './replies.ts'

const HEARTBEAT_MS = 15_000
const HEARTBEAT = Buffer.from(':\n\n')

export interface StreamsOptions {
  readonly door: Door
  readonly heartbeatMs?: number
  readonly onError: (error: unknown) => void
}

/** `signal` aborts when the client leaves before its answer has ended. */
export interface Line {
  readonly signal: AbortSignal
  readonly release: Release
}

/** The log after seq `after`, until the turn `until` ends. */
export interface Followed {
  readonly ref: Ref
  readonly after: number
  readonly until?: string
}

export class Streams {
  readonly #options: StreamsOptions
  readonly #channels = new Map<string, Channel>()
  readonly #readers = new Set<Reader>()
  readonly #heartbeat: NodeJS.Timeout
  cuts = 0

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers) reader.beat(HEARTBEAT)
    }, options.heartbeatMs ?? HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  get size(): number {
    return this.#readers.size
  }

  /**
   * Sends the log, then live events, until the client leaves or the turn ends; then it calls `release`. Throws if there
   * is nothing to follow.
   */
  async serve(role: Role, { ref, after, until }: Followed, { signal, release }: Line): Promise<Response> {
    const key = `${role} ${refKey(ref)}`
    const channel = this.#channels.get(key) ?? this.#open(key, ref, role)
    const leave = (reader: Reader): void => {
      if (reader.isCut) this.cuts += 1
      this.#readers.delete(reader)
      channel.forget(reader)
      if (channel.readers.size === 0) this.#drop(key, channel)
      release()
    }
    const reader = new Reader(after, leave, until)
    channel.readers.add(reader)
    this.#readers.add(reader)
    signal.addEventListener('abort', () => reader.end())
    try {
      await channel.ready
      // Read again: another process may have written events that the channel lacks, or broken the task file.
      const state = await this.#options.door.read(ref)
      if (!reader.gone) void this.#feed(reader, channel, state)
      return reader.response
    } catch (error) {
      reader.leave()
      throw error
    }
  }

  showText(ref: Ref, text: LiveEntry): void {
    for (const role of ROLES) this.#channels.get(`${role} ${refKey(ref)}`)?.showText(text)
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const reader of this.#readers) reader.end()
  }

  async #feed(reader: Reader, channel: Channel, state: Conversation): Promise<void> {
    try {
      if (reader.seq > state.seq) {
        reader.seq = 0
        reader.write(framedAside(state, 'reset', { seq: state.seq }))
      }
      await channel.serve(reader)
    } catch (error) {
      if (reader.gone) return
      this.#options.onError(error)
      reader.end()
    }
  }

  #open(key: string, ref: Ref, role: Role): Channel {
    const { door, onError } = this.#options
    const channel = new Channel(door, ref, role, error => {
      if (error !== undefined) onError(error)
      this.#drop(key, channel)
      // Readers reconnect to a new channel or get an error.
      for (const reader of channel.readers) reader.end()
    })
    this.#channels.set(key, channel)
    return channel
  }

  #drop(key: string, channel: Channel): void {
    if (this.#channels.get(key) === channel) this.#channels.delete(key)
    channel.close()
  }
}

const ROLES: readonly Role[] = ['person', 'agent']

/** A slower reader is disconnected; it resumes with Last-Event-ID. */
const MAX_BUFFERED_BYTES = 256 * 1024
const HIGH_WATER_MARK = 64 * 1024

const HEADERS = {
  ...SAFE,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** One event stream and the client that reads it. */
export class Reader {
  seq: number
  /** The stream ends with this turn. */
  readonly until: string | undefined
  /** Streams what is written. */
  readonly response: Response
  readonly #onGone: (reader: Reader) => void
  #stream!: ReadableStreamDefaultController<Uint8Array>
  #isGone = false
  #isCut = false
  #draining = false
  #onDrain: () => void = () => {}

  constructor(seq: number, onGone: (reader: Reader) => void, until?: string) {
    this.seq = seq
    this.until = until
    this.#onGone = onGone
    const body = new ReadableStream<Uint8Array>(
      {
        start: stream => void (this.#stream = stream),
        pull: () => this.#onDrain(),
        cancel: () => this.leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_MARK }),
    )
    this.response = new Response(body, { headers: HEADERS })
  }

  /** True once the stream has ended or the client has left. */
  get gone(): boolean {
    return this.#isGone
  }

  /** True if it was disconnected for not reading. */
  get isCut(): boolean {
    return this.#isCut
  }

  write(chunk: string | Uint8Array): void {
    if (this.gone) return
    if (this.#buffered > MAX_BUFFERED_BYTES) return this.#cut()
    // Copied: the stream's consumer owns its chunks.
    this.#stream.enqueue(Uint8Array.from(Buffer.from(chunk)))
  }

  /** Skipped while a page of the log drains. */
  beat(chunk: Uint8Array): void {
    if (!this.#draining) this.write(chunk)
  }

  /** Resolves when the client has caught up or left. */
  async drained(): Promise<void> {
    if (this.gone || this.#buffered < HIGH_WATER_MARK) return
    this.#draining = true
    await new Promise<void>(resolve => (this.#onDrain = resolve))
    this.#draining = false
  }

  end(): void {
    if (this.gone) return
    this.#stream.close()
    this.leave()
  }

  leave(): void {
    if (this.gone) return
    this.#isGone = true
    this.#onDrain()
    this.#onGone(this)
  }

  #cut(): void {
    this.#isCut = true
    this.end()
  }

  get #buffered(): number {
    return HIGH_WATER_MARK - (this.#stream.desiredSize ?? 0)
  }
}
