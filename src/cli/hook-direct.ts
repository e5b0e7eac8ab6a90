import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SILENCE } from '../hooks/event.ts'
import { hasConversation } from '../store/sqlite/peek.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { answerLine, fileNotes, type HookCommand, hostEvent } from './hook-event.ts'

/** Answers a hook from the database, for when no MCP process of the host can be asked. */
export async function answerDirectly(data: string, command: HookCommand, text: string): Promise<string> {
  const hook = hostEvent(command, text)
  if (!hook) return ''
  const { host, event, given } = hook
  const path = join(data, 'runsheet.db')
  const isThere = existsSync(path)
  // A hook never creates the database: without one there are no plans. A new session gets its digest with the first
  // prompt, when the MCP process is up.
  if (!given && (!isThere || event.kind === 'start')) return ''
  const notes = given ?? fileNotes(data, host)
  if (!isThere || !hasConversation(path, { tenant: LOCAL_TENANT, conversation: event.session })) {
    // A plan may still be created in this turn, and the gate must know where the turn began.
    if (event.kind === 'prompt') notes.write({ session: event.session, turn: event.turn, since: 0, told: 0 })
    return answerLine(hook, SILENCE)
  }
  // Lazy import: most sessions have no plan, and every module delays the hook.
  const { answerFromLog } = await import('./hook-reader.ts')
  return answerLine(hook, await answerFromLog(path, hook, notes))
}
