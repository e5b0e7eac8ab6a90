/** A whole answer. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/** Where one request's answer goes: Node's own response, or a web `Response`. */
export interface Connection {
  /** Whether the answer has ended or the client has left. */
  readonly isClosed: boolean
  /** Whether a stream has started; from then on no error can be answered. */
  readonly headersSent: boolean
  /** Bytes that were written and that the client has not taken yet. */
  readonly buffered: number
  /** Whether a writer should wait for `drained`. */
  readonly needsDrain: boolean
  /** The address at the other end, if the server knows it. */
  readonly remoteAddress?: string | undefined
  /** What the handler of the request returns once a stream has started. */
  readonly response: Response
  /** The body of its request; undefined if it has more than so many bytes. */
  body(request: Request, maxBytes: number): Promise<Uint8Array | undefined>
  /** Calls back once the answer has ended or the client has left; at once if that is so already. */
  onClose(listener: () => void): void
  /** Sends a whole answer; the handler of the request returns the result. */
  send(reply: Reply): Response
  /** Starts a stream. */
  open(headers: Readonly<Record<string, string>>): void
  write(chunk: string | Uint8Array): void
  /** Resolves once the client has taken what was written, or the connection is closed. */
  drained(): Promise<void>
  end(): void
  /** Drops what is buffered, and the connection. */
  destroy(): void
}

/** How long a client may leave an answer unread, without taking anything of it, before it is cut off. */
export const MAX_STALL_MS = 30_000

/** The client left before there was an answer. */
export const CLIENT_LEFT: Reply = { status: 499, headers: {} }
