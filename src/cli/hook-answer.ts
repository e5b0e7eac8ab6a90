import { answerFor, type HookAnswer, type HookEvent, type HookFeatures, type HookHost } from '../hooks/event.ts'
import type { HookNote, HookNotes } from '../hooks/notes.ts'
import { eventOf, type Payload } from '../hooks/payload.ts'
import { wasCancelled } from './gemini-transcript.ts'

export interface HookCommand {
  readonly name: string
  readonly host: HookHost
  readonly features: HookFeatures
}

export interface HostEvent extends HookCommand {
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
  return event && { ...command, event, given: command.host === 'opencode' ? givenNotes(payload as Payload) : undefined }
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
