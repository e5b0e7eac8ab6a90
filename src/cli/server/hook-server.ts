import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Redactor } from '../../core/text/redact.ts'
import type { Door } from '../../engine/door/door.ts'
import { MAX_HOOK_MS } from '../../hosts/hook-event.ts'
import { ProcessNotes, deliverHook, type HookNotes } from '../../hosts/hook-handler.ts'
import { makePrivateFolder } from '../../store/private-file.ts'
import { LOCAL_TENANT } from '../../store/store.ts'
import { answerLine, hostEvent, leaveSession, type HookCommand } from '../hook-event.ts'
import { HAS_SOCKETS, MAX_PAYLOAD, hookSocket, hostProcess, hostsFolder } from './hook-socket.ts'

interface HookServerOptions {
  readonly data: string
  readonly door: Door
  readonly redact: Redactor
  /** `--session` */
  readonly session: string | undefined
  readonly onError: (error: unknown) => void
}

const MAX_LINE = 1_024
/** In bytes. Systems allow at least 104, and older versions of Node truncate longer paths. */
const MAX_PATH = 100

/**
 * Answers the host's command hooks over a socket. Where sockets are unavailable (Windows, path too long), they get no
 * answer. Returns a function that stops it.
 */
export function serveHooks(options: HookServerOptions): () => void {
  if (!HAS_SOCKETS) return () => {}
  const { data, onError } = options
  const path = hookSocket(data, hostProcess())
  if (Buffer.byteLength(path) > MAX_PATH) return () => {}
  const notes = new ProcessNotes()
  const server = createServer({ allowHalfOpen: true }, socket => serve(socket, notes, options))
  server.on('error', () => {}).unref()
  try {
    makePrivateFolder(hostsFolder(data))
    // A killed process leaves its socket behind.
    rmSync(path, { force: true })
    listenPrivately(server, path)
  } catch (error) {
    onError(error)
  }
  return () => void server.close()
}

/** The umask makes the socket private from the start: `listen` binds it before it returns. */
function listenPrivately(server: Server, path: string): void {
  const umask = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(umask)
  }
}

function serve(socket: Socket, notes: HookNotes, options: HookServerOptions): void {
  const chunks: Buffer[] = []
  let room = MAX_LINE + MAX_PAYLOAD
  socket.on('error', () => {}).setTimeout(MAX_HOOK_MS, () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    room -= chunk.length
    if (room < 0) socket.destroy()
  })
  socket.once('end', () => {
    answer(Buffer.concat(chunks).toString('utf8'), notes, options).then(
      text => socket.end(text),
      (error: unknown) => {
        options.onError(error)
        socket.destroy()
      },
    )
  })
}

async function answer(text: string, ours: HookNotes, options: HookServerOptions): Promise<string> {
  const [line = ''] = text.split('\n', 1)
  const hook = hostEvent(JSON.parse(line) as HookCommand, text.slice(line.length + 1))
  if (!hook) return ''
  const { data, door, redact, session, onError } = options
  const { host, event, features, given } = hook
  const ref = { tenant: LOCAL_TENANT, conversation: session ?? event.session }
  const notes = given ?? ours
  if (!given && (event.kind === 'start' || event.kind === 'prompt')) leaveSession(data, host, event.session)
  return answerLine(hook, await deliverHook(event, { door, ref, features, notes, redact, onError }))
}
