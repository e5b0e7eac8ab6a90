import type { Connection } from '../connection.ts'
import { SAFE } from '../headers.ts'

/** Slow readers are disconnected beyond this; they resume with Last-Event-ID. */
const MAX_BUFFERED_BYTES = 256 * 1024
/** How long a reader may take for one page of the log. */
const DRAIN_TIMEOUT_MS = 30_000

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
  readonly #onCut: () => void
  #draining = false

  constructor(connection: Connection, seq: number, onCut: () => void, until?: string) {
    this.#connection = connection
    this.seq = seq
    this.until = until
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
    if (this.#connection.buffered > MAX_BUFFERED_BYTES) this.cut()
    else this.#connection.write(chunk)
  }

  /** Sends a heartbeat, unless the reader is busy with a page, which has its own timeout. */
  beat(chunk: Uint8Array): void {
    if (!this.#draining) this.write(chunk)
  }

  /** Resolves once the reader has taken what was written, or has left; disconnects it if that takes too long. */
  async drained(): Promise<void> {
    if (!this.#connection.needsDrain) return
    this.#draining = true
    const timer = setTimeout(() => this.cut(), DRAIN_TIMEOUT_MS)
    await this.#connection.drained()
    clearTimeout(timer)
    this.#draining = false
  }

  cut(): void {
    this.#onCut()
    this.#connection.destroy()
  }

  end(): void {
    if (this.gone) return
    if (!this.#connection.headersSent) this.open()
    this.#connection.end()
  }
}
