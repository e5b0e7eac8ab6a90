import { SAFE } from './replies.ts'

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
