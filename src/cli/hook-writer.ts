import { existsSync } from 'node:fs'
import { redactor } from '../domain/redact.ts'
import { openDoor } from '../door/door.ts'
import type { HookAnswer, HookEvent } from '../hooks/event.ts'
import { handleHook, type HookDeps } from '../hooks/handle.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'

/** Acts on a hook that may write, with the database opened and checked as any program does. */
export async function actDirectly(
  path: string,
  event: HookEvent,
  deps: Pick<HookDeps, 'ref' | 'features' | 'notes'>,
): Promise<HookAnswer> {
  const isShared = existsSync(`${path}-wal`)
  const door = openDoor({ store: await openSqliteStore({ path }), readOnly: true })
  try {
    return await handleHook(event, { ...deps, door, redact: redactor() })
  } finally {
    // While others have the database open, there is nothing to tidy up that the end of the process would not.
    if (!isShared) await door.close()
  }
}
