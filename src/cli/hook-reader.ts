import { statSync } from 'node:fs'
import { taskInProgress } from '../domain/conversation.ts'
import { tellPlan } from '../hooks/digest.ts'
import { type HookAnswer, SILENCE } from '../hooks/event.ts'
import type { HookNotes } from '../hooks/notes.ts'
import { openLogReader } from '../store/sqlite/reader.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { HostEvent } from './hook-answer.ts'

/** A larger database cannot be checked before the host's timeout, so hooks do not write to it. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/** Answers a hook from its conversation's log; opens the database for writing only if it must. */
export async function answerFromLog(
  path: string,
  { event, features }: HostEvent,
  notes: HookNotes,
): Promise<HookAnswer> {
  const ref = { tenant: LOCAL_TENANT, conversation: event.session }
  const reader = openLogReader(path)
  if (!reader) return SILENCE
  try {
    if (event.kind === 'start' || event.kind === 'prompt') {
      const log = { state: () => reader.current(ref), eventsAfter: reader.eventsAfter.bind(reader, ref) }
      return await tellPlan(event, { log, features, notes })
    }
    if (event.kind === 'tool' && !taskInProgress(reader.current(ref))) return SILENCE
  } finally {
    reader.close()
  }
  if (statSync(path).size > MAX_CHECKED_BYTES) return SILENCE
  const { actDirectly } = await import('./hook-writer.ts')
  return actDirectly(path, event, { ref, features, notes })
}
