import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HookHost } from '../hooks/event.ts'
import type { HookNote, HookNotes } from '../hooks/handle.ts'
import { isId } from '../domain/text.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { ancestors, hostProcess } from './host-process.ts'

// Hooks that are commands tell the MCP process of the same host which session it serves. Both descend from the host, so a
// file with the host's pid as its name is between the two.

const FOLDER = 'hosts'
const MAX_BYTES = 16_384

/** Notes of a command, in a file for its host's process. */
export function fileNotes(data: string, host: HookHost): HookNotes {
  let pid: number | undefined
  const file = (): string => fileOf(data, (pid ??= hostProcess()))
  return {
    read: session => {
      const noted = readNote(file())
      return noted?.host === host && noted.note.session === session ? noted.note : { session }
    },
    write: note => {
      makePrivateFolder(join(data, FOLDER))
      replacePrivateFile(file(), JSON.stringify({ host, ...note }))
    },
  }
}

/** Says which session the hooks of our host last named. */
export function notedSession(data: string): (host: HookHost) => string | undefined {
  let pids: readonly number[] | undefined
  return host => {
    pids ??= ancestors().map(({ pid }) => pid)
    return pids.flatMap(pid => readNote(fileOf(data, pid)) ?? []).find(noted => noted.host === host)?.note.session
  }
}

/** Removes the notes of hosts that are gone. */
export function removeOldNotes(data: string): void {
  for (const name of list(join(data, FOLDER))) {
    const pid = Number(/^(\d+)\.json$/.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) rmSync(fileOf(data, pid), { force: true })
  }
}

const fileOf = (data: string, pid: number): string => join(data, FOLDER, `${pid}.json`)

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
