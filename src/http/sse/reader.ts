import { type Connection, MAX_STALL_MS } from '../connection.ts'
import { SAFE } from '../headers.ts'
import type { Backlog } from '../limits.ts'

/** What limits a reader. */
export interface ReaderLimits {
  readonly backlog: Backlog
  /** Resolves when its next page may be read. */
  readonly turn: () => Promise<void>
}

/** Slow readers are disconnected beyond this; they resume with Last-Event-ID. */
const MAX_BUFFERED_BYTES = 256 * 1024
/** What every reader may leave unread without being counted. */
const FREE_BYTES = 64 * 1024

const HEADERS = {
  ...SAFE,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** One connection that follows a conversation, and how far it got. */
export class Reader {
  seq: number
  /** The turn whose end ends this stream. */
  readonly until: string | undefined
  readonly #connection: Connection
  readonly #limits: ReaderLimits
  readonly #onCut: () => void
  #draining = false
  #isCounted = false
  /** Bytes of a page that are not written yet. */
  #rest = 0

  constructor(connection: Connection, seq: number, limits: ReaderLimits, onCut: () => void, until?: string) {
    this.#connection = connection
    this.seq = seq
    this.until = until
    this.#limits = limits
    this.#onCut = onCut
  }

  open(): void {
    this.#connection.open(HEADERS)
  }

  get gone(): boolean {
    return this.#connection.isClosed
  }

  /** Writes a chunk, or disconnects a reader that is too slow. */
  write(chunk: string | Uint8Array): void {
    // Before the headers, the answer may still become an error.
    if (this.gone || !this.#connection.headersSent) return
    if (this.#connection.buffered > MAX_BUFFERED_BYTES) return this.cut()
    this.#connection.write(chunk)
    this.#count()
  }

  /** Writes a page in parts: a slow line needs longer for one event of 1 MB than for what shows that it is read at all. */
  async writeAll(page: string): Promise<void> {
    const bytes = Buffer.from(page)
    for (let start = 0; start < bytes.length && !this.gone; start += FREE_BYTES) {
      this.#rest = Math.max(0, bytes.length - start - FREE_BYTES)
      this.write(bytes.subarray(start, start + FREE_BYTES))
      await this.drained()
    }
    this.#rest = 0
  }

  /** Resolves when its next page may be read: a client that reads fast must not keep the others waiting. */
  turn(): Promise<void> {
    return this.#limits.turn()
  }

  /** Sends a heartbeat, unless the reader is busy with a page, which has its own timeout. */
  beat(chunk: Uint8Array): void {
    if (!this.#draining) this.write(chunk)
  }

  /** Resolves once the reader has taken what was written, or has left; disconnects it if that takes too long. */
  async drained(): Promise<void> {
    if (!this.#connection.needsDrain) return
    this.#draining = true
    const timer = setTimeout(() => this.cut(), MAX_STALL_MS)
    await this.#connection.drained()
    clearTimeout(timer)
    this.#draining = false
    this.#count()
  }

  cut(): void {
    this.#onCut()
    this.#connection.destroy()
  }

  /** Counts what is unread; disconnects the reader if there is no room for that. */
  #count(): void {
    const unread = this.#connection.buffered + this.#rest
    const bytes = unread > FREE_BYTES && !this.gone ? unread : 0
    if (bytes === 0 && !this.#isCounted) return
    this.#isCounted = bytes > 0
    if (!this.#limits.backlog(bytes)) this.cut()
  }

  end(): void {
    if (this.gone) return
    if (!this.#connection.headersSent) this.open()
    this.#connection.end()
  }
}
