import { CLIENT_LEFT, type Connection, MAX_STALL_MS, type Reply } from './connection.ts'
import { MAX_DROPPED_BYTES, MAX_LINGER_MS } from './linger.ts'

/** The same as Node's own response. */
const HIGH_WATER_MARK = 64 * 1024

const encoder = new TextEncoder()

type Body = Reply['body'] | ReadableStream<Uint8Array>

export function toResponse({ status, headers, body }: Omit<Reply, 'body'> & { readonly body?: Body }): Response {
  // The host owns the connection, and HTTP/2 forbids this header.
  const { connection: _, ...others } = headers
  return new Response(body ?? null, { status, headers: others })
}

/** Answers with a web `Response`, for servers other than our own. */
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

  async body(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
    const length = request.headers.get('content-length')
    if (Number(length ?? 0) > maxBytes) return undefined
    if (length !== null) return new Uint8Array(await request.arrayBuffer())
    const chunks: Uint8Array[] = []
    let size = 0
    const reader = request.body?.getReader()
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      size += read.value.length
      chunks.push(read.value)
      if (size <= maxBytes) continue
      void dropRest(reader)
      return undefined
    }
    return Buffer.concat(chunks)
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener()
    else this.#closed.signal.addEventListener('abort', listener, { once: true })
  }

  send(reply: Reply): Response {
    const { body = '' } = reply
    if (body.length > HIGH_WATER_MARK) return toResponse({ ...reply, body: this.#parts(body) })
    this.#close()
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
    // Copied: the stream's consumer owns its chunks, but all readers of a conversation share this one.
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

  /** Sends a large answer in chunks, to detect when the client has read it all or has stalled. */
  #parts(body: string | Uint8Array): ReadableStream<Uint8Array> {
    const bytes = typeof body === 'string' ? encoder.encode(body) : body
    let sent = 0
    let stall: NodeJS.Timeout | undefined
    this.onClose(() => clearTimeout(stall))
    return new ReadableStream<Uint8Array>(
      {
        start: stream => {
          this.#stream = stream
          stall = setTimeout(() => this.destroy(), MAX_STALL_MS).unref()
        },
        pull: stream => {
          stall?.refresh()
          if (sent >= bytes.length) return this.end()
          // Copied: the stream's consumer owns its chunks.
          stream.enqueue(bytes.slice(sent, (sent += HIGH_WATER_MARK)))
        },
        cancel: () => this.#close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    )
  }

  get #room(): number {
    return this.#stream?.desiredSize ?? HIGH_WATER_MARK
  }

  #close(): void {
    this.#closed.abort()
    this.#onDrain()
  }
}

/** Drains the body for a while: closing at once would reset a client that still sends, before it reads the answer. */
async function dropRest(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<void> {
  const until = performance.now() + MAX_LINGER_MS
  let left = MAX_DROPPED_BYTES
  try {
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      left -= read.value.length
      if (left < 0 || performance.now() > until) break
    }
    await reader?.cancel()
  } catch {
    // The client has left.
  }
}
