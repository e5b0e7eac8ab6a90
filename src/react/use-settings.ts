import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../client/client.ts'
import { type SettingsState, SettingsStore } from './settings-store.ts'

/** The settings of a server, and what a person can do with them. */
export interface SettingsHandle extends SettingsState {
  /**
   * Changes what is named; `unset` gives a setting back to what it would be without the page. False where it was not
   * saved: then `error` says why, and `isConflict` whether another window was faster.
   */
  readonly save: SettingsStore['save']
  readonly reload: SettingsStore['reload']
  /** Makes one small call to the model, or to the one that judges. `tried` is what it came to. */
  readonly tryModel: SettingsStore['tryModel']
}

/** The settings of a server without any UI. Only a person's token may read them. */
export function useSettings(client: Client): SettingsHandle {
  const store = useMemo(() => new SettingsStore(client), [client])
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
  return { ...state, save: store.save, reload: store.reload, tryModel: store.tryModel }
}
