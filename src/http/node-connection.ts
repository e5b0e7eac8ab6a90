import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { MAX_BODY_BYTES } from './body.ts'
import { type Connection, MAX_STALL_MS, type Reply } from './connection.ts'
import { answerAndLinger } from './linger.ts'

/** Writes to Node's response directly: a web `Response` would cost more than most routes. */
export class NodeConnection implements Connection {
  readonly response = RESPONSE_ALREADY_SENT
  readonly #outgoing: ServerResponse
  readonly #stallMs: number

  constructor(outgoing: ServerResponse, stallMs: number = MAX_STALL_MS) {
    this.#outgoing = outgoing
    this.#stallMs = stallMs
  }

  get isClosed(): boolean {
    return this.#outgoing.destroyed || this.#outgoing.writableEnded || this.#outgoing.req.aborted
  }

  get headersSent(): boolean {
    return this.#outgoing.headersSent
  }

  get buffered(): number {
    return this.#outgoing.writableLength
  }

  get needsDrain(): boolean {
    return !this.isClosed && this.#outgoing.writableNeedDrain
  }

  get remoteAddress(): string | undefined {
    return this.#outgoing.req.socket.remoteAddress
  }

  async body(_: Request, maxBytes: number): Promise<Uint8Array | undefined> {
    const { req: incoming } = this.#outgoing
    if (lengthOf(incoming) > maxBytes) return undefined
    // Sent late, so that a client with `Expect: 100-continue` need not send a body that is refused for another reason.
    if (asksFirst(incoming)) this.#outgoing.writeContinue()
    return received(incoming, maxBytes)
  }

  onClose(listener: () => void): void {
    if (this.#outgoing.destroyed) listener()
    else this.#outgoing.once('close', listener)
  }

  send({ status, headers, body }: Reply): Response {
    const outgoing = this.#outgoing
    if (outgoing.destroyed || outgoing.headersSent) return this.response
    if (body === undefined) outgoing.writeHead(status, headers).end()
    else if (stillSends(outgoing, headers['connection'] === 'close')) answerAndLinger(outgoing, status, headers, body)
    else outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
    // Disconnect a stalled reader. Node's timeout restarts with each chunk read.
    if (outgoing.writableLength > 0) outgoing.setTimeout(this.#stallMs, () => outgoing.destroy())
    return this.response
  }

  open(headers: Readonly<Record<string, string>>): void {
    // A previous response on this connection may have set a timeout, but streams may stay silent.
    this.#outgoing.setTimeout(0)
    this.#outgoing.writeHead(200, headers)
    this.#outgoing.flushHeaders()
  }

  write(chunk: string | Uint8Array): void {
    this.#outgoing.write(chunk)
  }

  drained(): Promise<void> {
    const outgoing = this.#outgoing
    return new Promise(resolve => {
      const done = (): void => {
        outgoing.off('drain', done).off('close', done)
        resolve()
      }
      outgoing.once('drain', done).once('close', done)
    })
  }

  end(): void {
    this.#outgoing.end()
  }

  destroy(): void {
    this.#outgoing.destroy()
  }
}

const lengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0)

const asksFirst = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue'

/** True if a body is still arriving that is too large to wait for, or whose connection closes after the reply. */
function stillSends({ req, shouldKeepAlive }: ServerResponse, closes: boolean): boolean {
  const isChunked = req.headers['transfer-encoding'] !== undefined
  if (req.complete || (!isChunked && lengthOf(req) === 0)) return false
  return isChunked || lengthOf(req) > MAX_BODY_BYTES || !shouldKeepAlive || closes
}

/** Resolves to undefined if the body exceeds `maxBytes`. */
function received(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer): void => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBytes) return
      stop().pause()
      resolve(undefined)
    }
    const end = (): void => {
      stop()
      resolve(Buffer.concat(chunks))
    }
    const leave = (): void => {
      stop()
      reject(new Error('The client left before it had sent the body.'))
    }
    const stop = (): IncomingMessage =>
      incoming.off('data', take).off('end', end).off('error', leave).off('close', leave)
    if (incoming.destroyed) leave()
    else incoming.on('data', take).on('end', end).on('error', leave).on('close', leave)
  })
}
