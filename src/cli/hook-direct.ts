import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SILENCE } from '../hooks/event.ts'
import { hasConversation } from '../store/sqlite/peek.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { answerLine, type HookCommand, hostEvent } from './hook-answer.ts'
import { fileNotes } from './host-notes.ts'

/** Answers a hook from the database, where no MCP process of the host can be asked. */
export async function answerDirectly(data: string, command: HookCommand, text: string): Promise<string> {
  const hook = hostEvent(command, text)
  if (!hook) return ''
  const { host, event, given } = hook
  const path = join(data, 'runsheet.db')
  const isThere = existsSync(path)
  // A hook never creates the database: without one there are no plans. A session that starts now is told with its first
  // prompt, when the MCP process is there.
  if (!given && (!isThere || event.kind === 'start')) return ''
  const notes = given ?? fileNotes(data, host)
  if (!isThere || !hasConversation(path, { tenant: LOCAL_TENANT, conversation: event.session })) {
    // The plan may be made in this turn, and the gate has to know where the turn began.
    if (event.kind === 'prompt') notes.write({ session: event.session, turn: event.turn, since: 0, told: 0 })
    return answerLine(hook, SILENCE)
  }
  // Loaded only here: most sessions have no plan, and a host waits for each module.
  const { answerFromLog } = await import('./hook-reader.ts')
  return answerLine(hook, await answerFromLog(path, hook, notes))
}
