import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import { type SettingsState, SettingsStore } from './settings-store.ts'

/** The settings of a server, and the changes a person can make. */
export interface SettingsHandle extends SettingsState {
  /**
   * Changes the named settings; `unset` drops the page's value, so that the configured one applies. Resolves to false
   * if nothing was saved: then `error` says why, and `isConflict` whether another window changed the settings first.
   */
  readonly save: SettingsStore['save']
  readonly reload: SettingsStore['reload']
  /** Tests the model or the judge's model with one small call. The result is in `tried`. */
  readonly tryModel: SettingsStore['tryModel']
}

/** Headless server settings. Reading them requires a person's token. */
export function useSettings(client: Client): SettingsHandle {
  const store = useMemo(() => new SettingsStore(client), [client])
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
  return { ...state, save: store.save, reload: store.reload, tryModel: store.tryModel }
}
