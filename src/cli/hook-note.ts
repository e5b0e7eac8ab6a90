import { type HookCommand, hostEvent } from './hook-answer.ts'
import { fileNotes } from './host-notes.ts'

/** Leaves the session of a prompt for the MCP process of the host, which is not connected yet. */
export function noteSession(data: string, command: HookCommand, payload: string): void {
  const { host, event, given } = hostEvent(command, payload) ?? {}
  if (host && event?.kind === 'prompt' && !given)
    fileNotes(data, host).write({ session: event.session, turn: event.turn })
}
