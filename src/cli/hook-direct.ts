import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { taskInProgress } from '../domain/conversation.ts'
import { tellPlan } from '../hooks/digest.ts'
import { type HookAnswer, SILENCE } from '../hooks/event.ts'
import { type HookNotes, NO_NOTES } from '../hooks/notes.ts'
import { openLogReader } from '../store/sqlite/reader.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { answerLine, type HookCommand, hostEvent, type HostEvent } from './hook-answer.ts'
import { fileNotes } from './host-notes.ts'

/** A larger database cannot be checked in the time that a host waits, so that nothing is written to it. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/** Answers a hook from the database, where no MCP process of the host can be asked. */
export async function answerDirectly(data: string, command: HookCommand, text: string): Promise<string> {
  const hook = hostEvent(command, text)
  if (!hook) return ''
  const path = join(data, 'runsheet.db')
  // A hook never creates the database: without one there are no plans. OpenCode starts us only after the first prompt.
  if (!existsSync(path)) return hook.host === 'opencode' && hook.event.kind === 'prompt' ? AT_START : ''
  return answerLine(hook, await answerFrom(path, hook, notesOf(hook, data)))
}

const AT_START = `${JSON.stringify({ note: { since: 0 } })}\n`

async function answerFrom(path: string, hook: HostEvent, notes: HookNotes): Promise<HookAnswer> {
  const { event, features } = hook
  const ref = { tenant: LOCAL_TENANT, conversation: event.session }
  const reader = openLogReader(path)
  if (!reader) return SILENCE
  try {
    const state = reader.current(ref)
    if (event.kind === 'start' || event.kind === 'prompt') {
      const eventsAfter = reader.eventsAfter.bind(reader, ref)
      return await tellPlan(event, { log: { state: () => state, eventsAfter }, features, notes })
    }
    if (event.kind === 'tool' ? !taskInProgress(state) : state.seq === 0) return SILENCE
  } finally {
    reader.close()
  }
  if (statSync(path).size > MAX_CHECKED_BYTES) return SILENCE
  const { actDirectly } = await import('./hook-writer.ts')
  return actDirectly(path, event, { ref, features, notes })
}

/** Claude Code starts a session by a command, and tells the rest to the MCP process. */
function notesOf({ host, given }: HostEvent, data: string): HookNotes {
  return given ?? (host === 'claude-code' || host === 'codex' ? NO_NOTES : fileNotes(data, host))
}
