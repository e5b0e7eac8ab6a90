import type { ServerResponse } from 'node:http'
import { SAFE } from '../headers.ts'

/** Bytes buffered for a slow reader; beyond that it is disconnected, and resumes later. */
const MAX_BUFFERED = 256 * 1024
/** How long a reader may take for one page of the replay. */
const DRAIN_MS = 30_000

const HEADERS = {
  ...SAFE,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** One connection that follows a conversation, and its position in the log. */
export class Reader {
  seq: number
  /** The turn whose end ends this stream. */
  readonly until: string | undefined
  readonly #response: ServerResponse
  readonly #onCut: () => void
  #draining = false

  constructor(response: ServerResponse, seq: number, onCut: () => void, until?: string) {
    this.#response = response
    this.seq = seq
    this.until = until
    this.#onCut = onCut
  }

  open(): void {
    this.#response.writeHead(200, HEADERS)
    this.#response.flushHeaders()
  }

  get gone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }

  /** Sends a chunk, or disconnects a reader that is too far behind. */
  write(chunk: string | Uint8Array): void {
    // Nothing before the headers: the response may still become a refusal.
    if (this.gone || !this.#response.headersSent) return
    if (this.#response.writableLength > MAX_BUFFERED) this.cut()
    else this.#response.write(chunk)
  }

  /** Sends a heartbeat, unless the reader is still taking a page: that has its own timeout. */
  beat(chunk: Uint8Array): void {
    if (!this.#draining) this.write(chunk)
  }

  /** Resolves once the buffer is drained or the reader is gone. */
  drained(): Promise<void> {
    const response = this.#response
    if (this.gone || !response.writableNeedDrain) return Promise.resolve()
    this.#draining = true
    return new Promise(resolve => {
      const done = (): void => {
        this.#draining = false
        clearTimeout(timer)
        response.off('drain', done).off('close', done)
        resolve()
      }
      const timer = setTimeout(() => this.cut(), DRAIN_MS)
      response.once('drain', done).once('close', done)
    })
  }

  cut(): void {
    this.#onCut()
    this.#response.destroy()
  }

  end(): void {
    if (this.gone) return
    if (!this.#response.headersSent) this.open()
    this.#response.end()
  }
}
