import { type Connection, MAX_STALL_MS } from './connection.ts'
import type { Backlog } from './limits.ts'

/** Sends a web stream with backpressure. Disconnects a client that stalls or exceeds its quota of unread bytes. */
export async function relay(
  body: ReadableStream<Uint8Array>,
  connection: Connection,
  backlog: Backlog,
  stallMs: number = MAX_STALL_MS,
): Promise<void> {
  const reader = body.getReader()
  connection.onClose(() => {
    backlog(0)
    void reader.cancel().catch(() => {})
  })
  try {
    for (let read = await reader.read(); !read.done && !connection.isClosed; read = await reader.read()) {
      connection.write(read.value)
      if (!connection.needsDrain) continue
      if (!backlog(connection.buffered)) return connection.destroy()
      const cut = setTimeout(() => connection.destroy(), stallMs)
      await connection.drained()
      clearTimeout(cut)
      backlog(0)
    }
    if (!connection.isClosed) connection.end()
  } catch {
    // The source failed: dropping the connection shows the client that the answer is incomplete.
    connection.destroy()
  }
}

/** Pulls a piece only after the previous one was sent. */
export function streamOf(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    pull: async controller => {
      const { value, done } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => void (await pieces.return(undefined)),
  })
}
