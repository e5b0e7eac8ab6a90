import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What is read and dropped of a body that was refused, before the connection is cut. */
export const MAX_DROPPED_BYTES = 32 * 1024 * 1024
export const MAX_LINGER_MS = 10_000

const lingering = new WeakSet<Socket>()

/** Whether a request came on a connection that only waits for its client to stop sending. It cannot be answered. */
export const isLingering = ({ socket }: IncomingMessage): boolean => lingering.has(socket)

/**
 * Answers a request whose body is still being sent, and closes its connection. Closing at once would reset it, and a
 * client that still sends would never see the answer. So our side is closed, and what the client sends is dropped for a
 * while.
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
    // A response to HEAD drops its body, and its head would wait for one.
    outgoing.flushHeaders()
    // `end` would make Node destroy the socket.
    outgoing.write(body, () => socket.end())
    incoming.once('end', () => socket.destroySoon())
    dropRest(incoming)
  }
  // A response has no socket until those before it on the connection are finished.
  if (outgoing.socket) answer()
  else outgoing.once('socket', answer)
}

/** Reads and drops what the client of an answered request still sends. One that does not stop in time is cut off. */
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
