export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/** Takes the reply to one request: Node's own response, or a web `Response`. */
export interface Connection {
  /** True once the reply has ended or the client has left. */
  readonly isClosed: boolean
  /** Once true, the status can no longer become an error. */
  readonly headersSent: boolean
  /** Bytes written but not yet read by the client. */
  readonly buffered: number
  readonly needsDrain: boolean
  readonly remoteAddress?: string | undefined
  /** The handler's return value once a stream has started. */
  readonly response: Response
  /** Resolves to undefined if the body exceeds `maxBytes`. */
  body(request: Request, maxBytes: number): Promise<Uint8Array | undefined>
  /** Calls back when the reply ends or the client leaves; immediately if that has already happened. */
  onClose(listener: () => void): void
  send(reply: Reply): Response
  open(headers: Readonly<Record<string, string>>): void
  write(chunk: string | Uint8Array): void
  drained(): Promise<void>
  end(): void
  destroy(): void
}

/** A client that reads nothing for this long is disconnected. */
export const MAX_STALL_MS = 30_000

/** 499: the client closed the request before the reply. */
export const CLIENT_LEFT: Reply = { status: 499, headers: {} }
