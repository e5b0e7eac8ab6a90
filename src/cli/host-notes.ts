import { readdirSync, rmSync } from 'node:fs'
import type { HookHost } from '../hooks/event.ts'
import type { HookNote, HookNotes } from '../hooks/notes.ts'
import { isId } from '../domain/text.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { ancestors, hostFile, hostProcess, hostsFolder } from './host-process.ts'

// Command hooks tell the host's MCP process which session it serves, through a file named after the host.

const MAX_BYTES = 16_384

export function fileNotes(data: string, host: HookHost): HookNotes {
  let pid: number | undefined
  const file = (): string => fileOf(data, (pid ??= hostProcess()))
  return {
    read: session => {
      const noted = readNote(file())
      return noted?.host === host && noted.note.session === session ? noted.note : { session }
    },
    write: note => {
      makePrivateFolder(hostsFolder(data))
      replacePrivateFile(file(), JSON.stringify({ host, ...note }))
    },
  }
}

/** The session that the host's hooks named last. */
export function notedSession(data: string): (host: HookHost) => string | undefined {
  let pids: readonly number[] | undefined
  return host => {
    pids ??= ancestors().map(({ pid }) => pid)
    return pids.flatMap(pid => readNote(fileOf(data, pid)) ?? []).find(noted => noted.host === host)?.note.session
  }
}

export function removeOldNotes(data: string): void {
  for (const name of list(hostsFolder(data))) {
    const [, pid, suffix = ''] = /^(\d+)\.(json|v\d+\.sock)$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(hostFile(data, Number(pid), suffix), { force: true })
  }
}

const fileOf = (data: string, pid: number): string => hostFile(data, pid, 'json')

function readNote(file: string): { readonly host: string; readonly note: HookNote } | undefined {
  try {
    const text = readRegularFile(file, { maxBytes: MAX_BYTES, follow: false }).toString('utf8')
    const { host, session, turn, since, told } = JSON.parse(text) as Record<string, unknown>
    if (typeof host !== 'string' || !isId(session)) return undefined
    const numbers = { since: numberOf(since), told: numberOf(told) }
    return { host, note: { session, turn: isId(turn) ? turn : undefined, ...numbers } }
  } catch {
    return undefined
  }
}

const numberOf = (raw: unknown): number | undefined => (typeof raw === 'number' ? raw : undefined)

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
