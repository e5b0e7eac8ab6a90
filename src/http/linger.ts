import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How much of a refused body is drained before the connection is dropped. */
export const MAX_DROPPED_BYTES = 32 * 1024 * 1024
export const MAX_LINGER_MS = 10_000

const lingering = new WeakSet<Socket>()

/** True for a pipelined request on a connection that is only draining: it cannot be answered. */
export const isLingering = ({ socket }: IncomingMessage): boolean => lingering.has(socket)

/**
 * Answers while the request body is still arriving, then closes. Closing at once would reset the connection before the
 * client reads the answer, so this half-closes it and drains the body for a while.
 */
export function answerAndLinger(
  outgoing: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: string | Uint8Array,
): void {
  const { req: incoming } = outgoing
  const { socket } = incoming
  lingering.add(socket)
  outgoing.writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) })
  const answer = (): void => {
    // Flush explicitly: a HEAD response drops its body, and its headers would wait for one.
    outgoing.flushHeaders()
    // `outgoing.end` would make Node destroy the socket.
    outgoing.write(body, () => socket.end())
    incoming.once('end', () => socket.destroySoon())
    dropRest(incoming)
  }
  // A pipelined response has no socket until the previous ones have finished.
  if (outgoing.socket) answer()
  else outgoing.once('socket', answer)
}

/** Drains the request body; destroys the socket if the client does not stop in time. */
export function dropRest(incoming: IncomingMessage): void {
  const { socket } = incoming
  const cut = setTimeout(() => socket.destroy(), MAX_LINGER_MS).unref()
  let left = MAX_DROPPED_BYTES
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) socket.destroy()
  })
  incoming.once('close', () => clearTimeout(cut))
  incoming.resume()
}
