import { existsSync, statSync } from 'node:fs'
import { taskInProgress } from '../domain/conversation.ts'
import { tellPlan } from '../hooks/digest.ts'
import { type HookAnswer, type HookEvent, SILENCE } from '../hooks/event.ts'
import type { HookDeps } from '../hooks/handle.ts'
import type { HookNotes } from '../hooks/notes.ts'
import { openLogs } from '../store/sqlite/reader.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { HostEvent } from './hook-event.ts'

/** A larger database cannot be checked before the host's timeout, so hooks do not write to it. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/** Answers a hook from its conversation's log; opens the database for writing only if it must. */
export async function answerFromLog(
  path: string,
  { event, features }: HostEvent,
  notes: HookNotes,
): Promise<HookAnswer> {
  const ref = { tenant: LOCAL_TENANT, conversation: event.session }
  const opened = openLogs(path)
  if (!opened) return SILENCE
  const { db, log } = opened
  try {
    if (event.kind === 'start' || event.kind === 'prompt') {
      const read = { state: () => log.current(ref), eventsAfter: log.eventsAfter.bind(log, ref) }
      return await tellPlan(event, { log: read, features, notes })
    }
    if (event.kind === 'tool' && !taskInProgress(log.current(ref))) return SILENCE
  } finally {
    db.close()
  }
  if (statSync(path).size > MAX_CHECKED_BYTES) return SILENCE
  return actDirectly(path, event, { ref, features, notes })
}

/** Handles a hook that may write. Opens and checks the database as any program does. */
async function actDirectly(
  path: string,
  event: HookEvent,
  deps: Pick<HookDeps, 'ref' | 'features' | 'notes'>,
): Promise<HookAnswer> {
  // Lazy imports: most hooks only read.
  const [{ redactor }, { openDoor }, { handleHook }, { openSqliteStore }] = await Promise.all([
    import('../domain/redact.ts'),
    import('../door/door.ts'),
    import('../hooks/handle.ts'),
    import('../store/sqlite/store.ts'),
  ])
  const isShared = existsSync(`${path}-wal`)
  const door = openDoor({ store: await openSqliteStore({ path }), readOnly: true })
  try {
    return await handleHook(event, { ...deps, door, redact: redactor() })
  } finally {
    // With other connections open, there is no cleanup that the process exit would not do.
    if (!isShared) await door.close()
  }
}
