import type { Client } from '../client/client.ts'
import { RunsheetError } from '../client/runsheet-error.ts'
import type { SettingsAnswer, SettingsChange, TryAnswer } from '../domain/wire.ts'

/** The server's settings as this window knows them. */
export interface SettingsState {
  /** Undefined until they are loaded. */
  readonly answer: SettingsAnswer | undefined
  readonly isLoading: boolean
  readonly isSaving: boolean
  readonly isTrying: boolean
  /** What the last try came to; undefined once the settings have changed. */
  readonly tried: TryAnswer | undefined
  /** Why the last request failed. */
  readonly error: unknown
  /** The last change was not made, because the settings had changed elsewhere. `answer` is what they are now. */
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

/** Loads, changes and tries the settings of a server. `subscribe` and `snapshot` are what `useSyncExternalStore` takes. */
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

  /** Loads them with the first listener. */
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

  /** Saves one change after the other, each based on what this window last saw. Whether it was saved. */
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
      // What was changed meanwhile was not tried.
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
