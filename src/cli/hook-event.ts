import { closeSync, constants, fstatSync, openSync, readSync, readdirSync, rmSync } from 'node:fs'
import { GATE_MARK } from '../core/views/digest.ts'
import { isId } from '../core/model/text.ts'
import { answerFor, type HookAnswer, type HookEvent, type HookFeatures } from '../hosts/hook-event.ts'
import type { HookNote, HookNotes } from '../hosts/hook-handler.ts'
import { eventOf, type Payload } from '../hosts/hook-payload.ts'
import { HOSTS, type HookHost } from '../hosts/hosts.ts'
import { makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { ancestors, hostFile, hostProcess, hostsFolder } from './server/hook-socket.ts'

export interface HookCommand {
  readonly name: string
  readonly host: HookHost
  readonly features: HookFeatures
}

interface HostEvent extends HookCommand {
  readonly event: HookEvent
  /** OpenCode's plugin keeps the notes itself: it sends them and gets them back. */
  readonly given: GivenNotes | undefined
}

interface GivenNotes extends HookNotes {
  readonly written: () => HookNote | undefined
}

export function hostEvent(command: HookCommand, text: string): HostEvent | undefined {
  const payload: unknown = JSON.parse(text)
  if (typeof payload !== 'object' || payload === null) return undefined
  const event = eventOf(command.host, command.name, payload as Payload)
  if (event?.kind === 'stop' && isPersonsStop(command.host, payload as Payload)) return undefined
  return (
    event && {
      ...command,
      event,
      given: HOSTS[command.host].hooks === 'plugin' ? givenNotes(payload as Payload) : undefined,
    }
  )
}

/** Gemini CLI reports a cancel by the person as a stop of the agent; only its transcript tells them apart. */
function isPersonsStop(host: HookHost, { transcript_path }: Payload): boolean {
  return host === 'gemini' && typeof transcript_path === 'string' && wasCancelled(transcript_path)
}

/** One JSON line; '' for no answer. */
export function answerLine({ host, name, given }: HostEvent, answer: HookAnswer): string {
  const note = given?.written()
  const whole = { ...answerFor(host, name, answer), ...(note ? { note: { since: note.since, told: note.told } } : {}) }
  return Object.keys(whole).length > 0 ? `${JSON.stringify(whole)}\n` : ''
}

function givenNotes(payload: Payload): GivenNotes {
  const { since, told } = (payload['note'] ?? {}) as Readonly<Record<string, unknown>>
  const numberOf = (raw: unknown): number | undefined => (typeof raw === 'number' ? raw : undefined)
  let written: HookNote | undefined
  return {
    read: session => ({ session, since: numberOf(since), told: numberOf(told) }),
    write: note => (written = note),
    written: () => written,
  }
}

// Command hooks name the host's session in a file named after the host: its MCP process may not be connected yet.

const MAX_BYTES = 16_384

/** Leaves the session of a prompt for the MCP process of the host. */
export function noteSession(data: string, command: HookCommand, payload: string): void {
  const { host, event, given } = hostEvent(command, payload) ?? {}
  if (host && event?.kind === 'prompt' && !given) leaveSession(data, host, event.session)
}

export function leaveSession(data: string, host: HookHost, session: string): void {
  makePrivateFolder(hostsFolder(data))
  replacePrivateFile(fileOf(data, hostProcess()), JSON.stringify({ host, session }))
}

/** The session that the host's hooks named last. */
export function notedSession(data: string): (host: HookHost) => string | undefined {
  let pids: readonly number[] | undefined
  return host => {
    pids ??= ancestors().map(({ pid }) => pid)
    return pids.flatMap(pid => readNote(fileOf(data, pid)) ?? []).find(noted => noted.host === host)?.session
  }
}

export function removeOldNotes(data: string): void {
  for (const name of list(hostsFolder(data))) {
    const [, pid, suffix = ''] = /^(\d+)\.(json|v\d+\.sock)$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(hostFile(data, Number(pid), suffix), { force: true })
  }
}

const fileOf = (data: string, pid: number): string => hostFile(data, pid, 'json')

function readNote(file: string): { readonly host: unknown; readonly session: string } | undefined {
  try {
    const text = readRegularFile(file, { maxBytes: MAX_BYTES, follow: false }).toString('utf8')
    const { host, session } = JSON.parse(text) as Record<string, unknown>
    return isId(session) ? { host, session } : undefined
  } catch {
    return undefined
  }
}

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

/** Read limit from the end: Gemini CLI also appends rewrites of the whole conversation. */
const MAX_TAIL = 4 * 1024 * 1024

/**
 * Detects that a person cancelled Gemini CLI's work on their newest prompt. Hooks do not report this: after Esc they
 * get stale texts and those of an agent that Gemini CLI resumes by itself. False if the transcript is unreadable.
 */
function wasCancelled(transcript: string): boolean {
  for (const line of tailOf(transcript).split('\n').toReversed()) {
    const { type, content } = recordIn(line)
    if (type === 'info' && content === 'Request cancelled.') return true
    if (type === 'user' && isPrompt(content)) return false
  }
  return false
}

/** Excludes tool results and the messages of Gemini CLI or our gate. */
function isPrompt(content: unknown): boolean {
  const parts = (Array.isArray(content) ? content : [{ text: content }]) as readonly Record<string, unknown>[]
  const [first] = parts.map(({ text }) => text)
  return typeof first === 'string' && !first.startsWith(GATE_MARK) && !first.startsWith('[System: ')
}

function tailOf(path: string): string {
  let file: number | undefined
  try {
    // O_NONBLOCK, because opening a pipe would block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = fstatSync(file)
    if (!found.isFile()) return ''
    const bytes = Buffer.alloc(Math.min(found.size, MAX_TAIL))
    const read = readSync(file, bytes, 0, bytes.length, found.size - bytes.length)
    return bytes.toString('utf8', 0, read)
  } catch {
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function recordIn(line: string): Readonly<Record<string, unknown>> {
  // Skip rewritten conversations and a partial first line.
  if (!line.startsWith('{') || line.startsWith('{"$set"')) return {}
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
