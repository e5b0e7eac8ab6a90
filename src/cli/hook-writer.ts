import { existsSync } from 'node:fs'
import { redactor } from '../domain/redact.ts'
import { openDoor } from '../door/door.ts'
import type { HookAnswer, HookEvent } from '../hooks/event.ts'
import { handleHook, type HookDeps } from '../hooks/handle.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'

/** Handles a hook that may write. Opens and checks the database as any program does. */
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
    // With other connections open, there is no cleanup that the process exit would not do.
    if (!isShared) await door.close()
  }
}
