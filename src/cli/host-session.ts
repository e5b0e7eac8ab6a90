import { fstatSync } from 'node:fs'
import { hostId } from '../hooks/host-id.ts'

/** A host writes at once; a pipe that stays open and empty names no session. */
const FIRST_MS = 100
const ALL_MS = 500
const MAX_BYTES = 1024 * 1024

/** The session id on stdin, as Claude Code passes it to its status line; undefined without one. */
export async function sessionOnStdin(): Promise<string | undefined> {
  if (!isPiped()) return undefined
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const started = performance.now()
  let text = ''
  const timer = setInterval(() => {
    if (performance.now() - started > (text === '' ? FIRST_MS : ALL_MS)) resolve(undefined)
  }, FIRST_MS / 2)
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', chunk => {
    text += String(chunk)
    const session = sessionIn(text)
    if (session !== undefined || text.length > MAX_BYTES) resolve(session)
  })
  process.stdin.once('end', () => resolve(sessionIn(text))).once('error', () => resolve(undefined))
  try {
    return await promise
  } finally {
    clearInterval(timer)
    process.stdin.destroy()
  }
}

/** A terminal and /dev/null are character devices. */
function isPiped(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice()
  } catch {
    return false
  }
}

function sessionIn(text: string): string | undefined {
  if (!text.trimEnd().endsWith('}')) return undefined
  try {
    const said: unknown = JSON.parse(text)
    return hostId((said as { readonly session_id?: unknown } | null)?.session_id)
  } catch {
    return undefined
  }
}
