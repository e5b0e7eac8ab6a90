import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import { RunsheetError } from '../../../client/runsheet-error.ts'
import type { SettingsAnswer, SettingsChange, TryAnswer } from '../../../core/views/wire.ts'

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

/** The server's settings as last loaded by this window. */
export interface SettingsState {
  /** Undefined until loaded. */
  readonly answer: SettingsAnswer | undefined
  readonly isLoading: boolean
  readonly isSaving: boolean
  readonly isTrying: boolean
  /** The result of the last model test; undefined once the settings have changed. */
  readonly tried: TryAnswer | undefined
  /** Why the last request failed. */
  readonly error: unknown
  /** The last change was refused because the settings had changed elsewhere. `answer` is the current state. */
  readonly isConflict: boolean
}

const INITIAL: SettingsState = {
  answer: undefined,
  isLoading: false,
  isSaving: false,
  isTrying: false,
  tried: undefined,
  error: undefined,
  isConflict: false,
}

/** `subscribe` and `snapshot` fit `useSyncExternalStore`. */
export class SettingsStore {
  readonly #client: Pick<Client, 'settings' | 'changeSettings' | 'tryModel'>
  readonly #listeners = new Set<() => void>()
  #state = INITIAL
  #leave = new AbortController()
  #last: Promise<unknown> = Promise.resolve()

  constructor(client: Pick<Client, 'settings' | 'changeSettings' | 'tryModel'>) {
    this.#client = client
  }

  readonly snapshot = (): SettingsState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) {
      this.#leave = new AbortController()
      void this.reload()
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#leave.abort()
    }
  }

  readonly reload = async (): Promise<void> => {
    const { signal } = this.#leave
    this.#set({ isLoading: true, error: undefined })
    try {
      const answer = await this.#client.settings(signal)
      if (!signal.aborted) this.#set({ answer, isLoading: false })
    } catch (error) {
      if (!signal.aborted) this.#set({ error, isLoading: false })
    }
  }

  /** Saves changes sequentially, each based on the latest version this window has seen. */
  readonly save = (change: SettingsChange): Promise<boolean> => {
    const saved = this.#last.then(() => this.#save(change))
    this.#last = saved
    return saved
  }

  readonly tryModel = async (which?: 'model' | 'assessor_model'): Promise<void> => {
    if (this.#state.isTrying) return
    const { signal } = this.#leave
    const { answer } = this.#state
    this.#set({ isTrying: true, tried: undefined, error: undefined })
    try {
      const tried = await this.#client.tryModel(which, signal)
      // The settings changed during the test, so its result is stale.
      if (!signal.aborted) this.#set({ isTrying: false, ...(this.#state.answer === answer ? { tried } : {}) })
    } catch (error) {
      if (!signal.aborted) this.#set({ isTrying: false, error })
    }
  }

  async #save(change: SettingsChange): Promise<boolean> {
    const { answer } = this.#state
    if (!answer) return false
    this.#set({ isSaving: true, error: undefined, isConflict: false })
    try {
      this.#set({ answer: await this.#client.changeSettings(answer.version, change), tried: undefined })
      return true
    } catch (error) {
      const isConflict = error instanceof RunsheetError && error.code === 'settings_changed'
      if (isConflict) await this.reload()
      this.#set({ error, isConflict })
      return false
    } finally {
      this.#set({ isSaving: false })
    }
  }

  #set(change: Partial<SettingsState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}
