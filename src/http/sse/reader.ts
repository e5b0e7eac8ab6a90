import type { ServerResponse } from 'node:http'
import { SAFE } from '../headers.ts'

/** What may lie in memory for a reader who does not read; beyond it the line is cut, and resuming makes that safe. */
const MOST_BUFFERED = 256 * 1024
/** How long a reader may take over one page of what it missed. */
const DRAIN_MS = 30_000

const HEADERS = {
  ...SAFE,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** One connection that follows a conversation, and how far it has got. */
export class Reader {
  seq: number
  /** The turn whose end is the end of this stream. */
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

  /** Hands over what is due; one who has left too much of it lying is cut off instead. */
  write(chunk: string | Uint8Array): void {
    // Before its headers there is nothing to say: they may still turn out to be a refusal.
    if (this.gone || !this.#response.headersSent) return
    if (this.#response.writableLength > MOST_BUFFERED) this.cut()
    else this.#response.write(chunk)
  }

  /** Keeps the line open. One who is taking a page needs none, and has its own time for that. */
  beat(chunk: Uint8Array): void {
    if (!this.#draining) this.write(chunk)
  }

  /** Resolves once the reader has taken what was written, or is gone. */
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
