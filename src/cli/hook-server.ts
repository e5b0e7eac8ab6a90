import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Redactor } from '../domain/redact.ts'
import type { Door } from '../door/door.ts'
import { MAX_HOOK_MS } from '../hooks/event.ts'
import { deliverHook } from '../hooks/handle.ts'
import { makePrivateFolder } from '../store/private-file.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { answerLine, type HookCommand, hostEvent } from './hook-answer.ts'
import { HAS_SOCKETS, hookSocket, MAX_PAYLOAD } from './hook-socket.ts'
import { fileNotes } from './host-notes.ts'
import { hostProcess, hostsFolder } from './host-process.ts'

export interface HookServerOptions {
  readonly data: string
  readonly door: Door
  readonly redact: Redactor
  /** `--session` */
  readonly session: string | undefined
  readonly onError: (error: unknown) => void
}

/** Of the line before the payload. */
const MAX_LINE = 1_024
/** Of a socket's path, in bytes. Systems allow 104 or more, and older versions of Node cut off the rest. */
const MAX_PATH = 100

/**
 * Answers the hooks of the host that started this process, where they are commands. Without a socket, as on Windows or
 * where its path would be too long, they open the database themselves. Returns how to stop.
 */
export function serveHooks(options: HookServerOptions): () => void {
  if (!HAS_SOCKETS) return () => {}
  const { data, onError } = options
  const path = hookSocket(data, hostProcess())
  if (Buffer.byteLength(path) > MAX_PATH) return () => {}
  const server = createServer({ allowHalfOpen: true }, socket => serve(socket, options))
  server.on('error', () => {}).unref()
  try {
    makePrivateFolder(hostsFolder(data))
    // A process that was killed has left it behind.
    rmSync(path, { force: true })
    listenPrivately(server, path)
  } catch (error) {
    onError(error)
  }
  return () => void server.close()
}

/** The socket is its owner's only from the beginning: it is bound before `listen` returns. */
function listenPrivately(server: Server, path: string): void {
  const umask = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(umask)
  }
}

function serve(socket: Socket, options: HookServerOptions): void {
  const chunks: Buffer[] = []
  let room = MAX_LINE + MAX_PAYLOAD
  socket.on('error', () => {}).setTimeout(MAX_HOOK_MS, () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    room -= chunk.length
    if (room < 0) socket.destroy()
  })
  socket.once('end', () => {
    answer(Buffer.concat(chunks).toString('utf8'), options).then(
      text => socket.end(text),
      (error: unknown) => {
        options.onError(error)
        socket.destroy()
      },
    )
  })
}

async function answer(text: string, options: HookServerOptions): Promise<string> {
  const [line = ''] = text.split('\n', 1)
  const hook = hostEvent(JSON.parse(line) as HookCommand, text.slice(line.length + 1))
  if (!hook) return ''
  const { data, door, redact, session, onError } = options
  const { host, event, features, given } = hook
  const ref = { tenant: LOCAL_TENANT, conversation: session ?? event.session }
  const notes = given ?? fileNotes(data, host)
  return answerLine(hook, await deliverHook(event, { door, ref, features, notes, redact, onError }))
}
