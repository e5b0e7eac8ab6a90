import { type Connection, MAX_STALL_MS } from '../connection.ts'
import { SAFE } from '../headers.ts'
import type { Backlog } from '../limits.ts'

export interface ReaderLimits {
  readonly backlog: Backlog
  readonly turn: () => Promise<void>
}

/** A slower reader is disconnected; it resumes with Last-Event-ID. */
const MAX_BUFFERED_BYTES = 256 * 1024
/** Unread bytes below this do not count against the quota. */
const FREE_BYTES = 64 * 1024

const HEADERS = {
  ...SAFE,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

export class Reader {
  seq: number
  /** The stream ends with this turn. */
  readonly until: string | undefined
  readonly #connection: Connection
  readonly #limits: ReaderLimits
  readonly #onCut: () => void
  #draining = false
  #isCounted = false
  /** Bytes of the current page not yet written. */
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

  write(chunk: string | Uint8Array): void {
    // Before the headers are sent, the answer can still become an error.
    if (this.gone || !this.#connection.headersSent) return
    if (this.#connection.buffered > MAX_BUFFERED_BYTES) return this.cut()
    this.#connection.write(chunk)
    this.#count()
  }

  /**
   * Writes a page in chunks, so that a slow connection shows progress within the stall timeout even for an event of 1
   * MB.
   */
  async writeAll(page: string): Promise<void> {
    const bytes = Buffer.from(page)
    for (let start = 0; start < bytes.length && !this.gone; start += FREE_BYTES) {
      this.#rest = Math.max(0, bytes.length - start - FREE_BYTES)
      this.write(bytes.subarray(start, start + FREE_BYTES))
      await this.drained()
    }
    this.#rest = 0
  }

  /** Yields between pages, so that a fast reader does not starve the others. */
  turn(): Promise<void> {
    return this.#limits.turn()
  }

  /** Skipped while a page drains, which has its own timeout. */
  beat(chunk: Uint8Array): void {
    if (!this.#draining) this.write(chunk)
  }

  /** Resolves when the client has caught up or left; disconnects it after a timeout. */
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

  /** Counts unread bytes against the quota; disconnects the reader if they exceed it. */
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
