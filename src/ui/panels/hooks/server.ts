import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import { RunsheetError } from '../../../client/http.ts'
import type {
  ServerToolView,
  SettingsAnswer,
  SettingsChange,
  ToolsAnswer,
  TryAnswer,
} from '../../../core/views/wire.ts'
import type { ToolRule } from '../../../core/model/tool-approval.ts'

/** State of this window that listeners follow: `subscribe` and `snapshot` fit `useSyncExternalStore`. */
abstract class Store<State> {
  readonly #listeners = new Set<() => void>()
  #leave = new AbortController()
  protected state: State

  constructor(initial: State) {
    this.state = initial
  }

  /** Runs with the first listener; `signal` aborts with the last. */
  protected abstract follow(signal: AbortSignal): Promise<void>

  protected get signal(): AbortSignal {
    return this.#leave.signal
  }

  protected set(change: Partial<State>): void {
    this.state = { ...this.state, ...change }
    for (const listener of this.#listeners) listener()
  }

  readonly snapshot = (): State => this.state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) {
      this.#leave = new AbortController()
      void this.follow(this.signal)
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#leave.abort()
    }
  }
}

/** The settings of a server, and the changes a person can make. */
export interface SettingsHandle extends SettingsState {
  /**
   * Changes the named settings; `unset` drops the page's value, so that the configured one applies. Resolves to false
   * if nothing was saved: then `error` says why, and `isConflict` whether another window changed the settings first.
   */
  readonly save: (change: SettingsChange) => Promise<boolean>
  readonly reload: () => Promise<void>
  /** Tests the model or the judge's model with one small call. The result is in `tried`. */
  readonly tryModel: (which?: 'model' | 'assessor_model') => Promise<void>
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

export class SettingsStore extends Store<SettingsState> {
  readonly #client: Pick<Client, 'settings' | 'changeSettings' | 'tryModel'>
  #last: Promise<unknown> = Promise.resolve()

  constructor(client: Pick<Client, 'settings' | 'changeSettings' | 'tryModel'>) {
    super(INITIAL)
    this.#client = client
  }

  protected follow(): Promise<void> {
    return this.reload()
  }

  readonly reload = async (): Promise<void> => {
    const { signal } = this
    this.set({ isLoading: true, error: undefined })
    try {
      const answer = await this.#client.settings(signal)
      if (!signal.aborted) this.set({ answer, isLoading: false })
    } catch (error) {
      if (!signal.aborted) this.set({ error, isLoading: false })
    }
  }

  /** Saves changes sequentially, each based on the latest version this window has seen. */
  readonly save = (change: SettingsChange): Promise<boolean> => {
    const saved = this.#last.then(() => this.#save(change))
    this.#last = saved
    return saved
  }

  readonly tryModel = async (which?: 'model' | 'assessor_model'): Promise<void> => {
    if (this.state.isTrying) return
    const { signal } = this
    const { answer } = this.state
    this.set({ isTrying: true, tried: undefined, error: undefined })
    try {
      const tried = await this.#client.tryModel(which, signal)
      // The settings changed during the test, so its result is stale.
      if (!signal.aborted) this.set({ isTrying: false, ...(this.state.answer === answer ? { tried } : {}) })
    } catch (error) {
      if (!signal.aborted) this.set({ isTrying: false, error })
    }
  }

  async #save(change: SettingsChange): Promise<boolean> {
    const { answer } = this.state
    if (!answer) return false
    this.set({ isSaving: true, error: undefined, isConflict: false })
    try {
      this.set({ answer: await this.#client.changeSettings(answer.version, change), tried: undefined })
      return true
    } catch (error) {
      const isConflict = error instanceof RunsheetError && error.code === 'settings_changed'
      if (isConflict) await this.reload()
      this.set({ error, isConflict })
      return false
    } finally {
      this.set({ isSaving: false })
    }
  }
}

/** The agent's MCP servers and tools, and the changes a person can make. */
export interface ToolsHandle extends ToolsState {
  /** Sets the rule of the given tools; null restores the configured rule. Resolves to whether it was saved. */
  readonly setRule: (server: string, rule: ToolRule | null, tools: readonly ServerToolView[]) => Promise<boolean>
  /** Removes a server from the person's own settings file. */
  readonly remove: (server: string) => Promise<boolean>
  /** Reconnects a failed server. */
  readonly retry: (server: string) => Promise<boolean>
  readonly reload: () => Promise<void>
}

/** Headless tools of a server. Reading them requires a person's token. `isLive` follows changes. */
export function useTools(client: Client, { isLive = false }: { readonly isLive?: boolean } = {}): ToolsHandle {
  const store = useMemo(() => new ToolsStore(client, { isLive }), [client, isLive])
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
  const { setRule, remove, retry, reload } = store
  return { ...state, setRule, remove, retry, reload }
}

/** The agent's tools as last loaded by this window. */
export interface ToolsState {
  /** Undefined until loaded. */
  readonly answer: ToolsAnswer | undefined
  /** A change is in flight. */
  readonly isSaving: boolean
  /** Why the last request failed. */
  readonly error: unknown
}

type ToolsClient = Pick<Client, 'tools' | 'setToolRules' | 'removeToolServer' | 'retryToolServer'>

/** Polls for changes outside of this window: a server connects, or a person adds one in a terminal. */
const POLL_MS = 2_000

export class ToolsStore extends Store<ToolsState> {
  readonly #client: ToolsClient
  readonly #pollMs: number | undefined
  #changes = 0
  #last: Promise<unknown> = Promise.resolve()

  /** `isLive` polls while there are listeners. */
  constructor(client: ToolsClient, { isLive = false, pollMs = POLL_MS } = {}) {
    super({ answer: undefined, isSaving: false, error: undefined })
    this.#client = client
    this.#pollMs = isLive ? pollMs : undefined
  }

  readonly reload = async (): Promise<void> => {
    const { signal } = this
    const before = this.#changes
    try {
      const answer = await this.#client.tools(signal)
      // A change made during the request has a newer answer.
      if (!signal.aborted && before === this.#changes) this.set({ answer })
    } catch (error) {
      if (!signal.aborted) this.set({ error })
    }
  }

  readonly setRule: ToolsHandle['setRule'] = (server, rule, tools) => {
    const named = tools.map(({ name, fingerprint }) => ({ name, ...(rule === 'always' ? { fingerprint } : {}) }))
    return this.#change(() => this.#client.setToolRules({ server, rule, tools: named }))
  }

  readonly remove: ToolsHandle['remove'] = server => this.#change(() => this.#client.removeToolServer(server))

  readonly retry: ToolsHandle['retry'] = server => this.#change(() => this.#client.retryToolServer(server))

  #change(work: () => Promise<ToolsAnswer>): Promise<boolean> {
    const changed = this.#last.then(async () => {
      this.set({ isSaving: true, error: undefined })
      try {
        const answer = await work()
        this.#changes += 1
        this.set({ answer })
        return true
      } catch (error) {
        this.set({ error })
        await this.reload()
        return false
      } finally {
        this.set({ isSaving: false })
      }
    })
    this.#last = changed
    return changed
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    await this.reload()
    while (this.#pollMs !== undefined && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(() => resolve(), this.#pollMs)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise
      clearTimeout(timer)
      if (!signal.aborted) await this.reload()
    }
  }
}
