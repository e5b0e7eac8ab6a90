import { CLIENT_LEFT, type Connection, type Reply } from './connection.ts'

/** As much as Node's own response buffers before it asks its writer to wait. */
const HIGH_WATER_MARK = 64 * 1024

const encoder = new TextEncoder()

export function toResponse({ status, headers, body }: Reply): Response {
  // Not ours to close here, and HTTP/2 has no such header.
  const { connection: _, ...others } = headers
  return new Response(body ?? null, { status, headers: others })
}

/** Answers with a web `Response`, for servers that are not our own. */
export class WebConnection implements Connection {
  readonly #closed = new AbortController()
  #response: Response | undefined
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  #onDrain: () => void = () => {}

  /** `signal` is the request's: it aborts when the client leaves. */
  constructor(signal: AbortSignal) {
    if (signal.aborted) this.#close()
    else signal.addEventListener('abort', () => this.end(), { signal: this.#closed.signal })
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  get headersSent(): boolean {
    return this.#response !== undefined
  }

  get buffered(): number {
    return HIGH_WATER_MARK - this.#room
  }

  get needsDrain(): boolean {
    return !this.isClosed && this.#room <= 0
  }

  get response(): Response {
    return this.#response ?? toResponse(CLIENT_LEFT)
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener()
    else this.#closed.signal.addEventListener('abort', listener, { once: true })
  }

  send(reply: Reply): Response {
    return toResponse(reply)
  }

  open(headers: Readonly<Record<string, string>>): void {
    const body = new ReadableStream<Uint8Array>(
      {
        start: stream => void (this.#stream = stream),
        pull: () => this.#onDrain(),
        cancel: () => this.#close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_MARK }),
    )
    this.#response = new Response(body, { headers })
  }

  write(chunk: string | Uint8Array): void {
    // A copy: the reader of a stream owns its chunks, and readers of a conversation are handed the same one.
    this.#stream?.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : new Uint8Array(chunk))
  }

  drained(): Promise<void> {
    return new Promise(resolve => {
      this.#onDrain = resolve
    })
  }

  end(): void {
    this.#stream?.close()
    this.#close()
  }

  destroy(): void {
    this.#stream?.error(new Error('The client does not read its stream.'))
    this.#close()
  }

  get #room(): number {
    return this.#stream?.desiredSize ?? HIGH_WATER_MARK
  }

  #close(): void {
    this.#closed.abort()
    this.#onDrain()
  }
}
