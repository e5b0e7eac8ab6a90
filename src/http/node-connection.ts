import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Connection, Reply } from './connection.ts'

/** Writes to Node's response itself: going through a web `Response` costs more than most routes. */
export class NodeConnection implements Connection {
  readonly response = RESPONSE_ALREADY_SENT
  readonly #outgoing: ServerResponse

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing
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

  onClose(listener: () => void): void {
    if (this.#outgoing.destroyed) listener()
    else this.#outgoing.once('close', listener)
  }

  send({ status, headers, body }: Reply): Response {
    const outgoing = this.#outgoing
    if (outgoing.destroyed || outgoing.headersSent) return this.response
    if (body === undefined) outgoing.writeHead(status, headers).end()
    else outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
    return this.response
  }

  open(headers: Readonly<Record<string, string>>): void {
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
