import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import type { ToolRule } from '../../../core/model/tool-rules.ts'
import type { ServerToolView, ToolsAnswer } from '../../../core/views/wire.ts'

/** The agent's MCP servers and tools, and the changes a person can make. */
export interface ToolsHandle extends ToolsState {
  readonly setRule: ToolsStore['setRule']
  readonly remove: ToolsStore['remove']
  readonly retry: ToolsStore['retry']
  readonly reload: ToolsStore['reload']
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

/** `subscribe` and `snapshot` fit `useSyncExternalStore`. */
export class ToolsStore {
  readonly #client: ToolsClient
  readonly #pollMs: number | undefined
  readonly #listeners = new Set<() => void>()
  #state: ToolsState = { answer: undefined, isSaving: false, error: undefined }
  #leave = new AbortController()
  #changes = 0
  #last: Promise<unknown> = Promise.resolve()

  /** `isLive` polls while there are listeners. */
  constructor(client: ToolsClient, { isLive = false, pollMs = POLL_MS } = {}) {
    this.#client = client
    this.#pollMs = isLive ? pollMs : undefined
  }

  readonly snapshot = (): ToolsState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) {
      this.#leave = new AbortController()
      void this.#follow(this.#leave.signal)
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#leave.abort()
    }
  }

  readonly reload = async (): Promise<void> => {
    const { signal } = this.#leave
    const before = this.#changes
    try {
      const answer = await this.#client.tools(signal)
      // A change made during the request has a newer answer.
      if (!signal.aborted && before === this.#changes) this.#set({ answer })
    } catch (error) {
      if (!signal.aborted) this.#set({ error })
    }
  }

  /** Sets the rule of the given tools; null restores the configured rule. Resolves to whether it was saved. */
  readonly setRule = (server: string, rule: ToolRule | null, tools: readonly ServerToolView[]): Promise<boolean> => {
    const named = tools.map(({ name, fingerprint }) => ({ name, ...(rule === 'always' ? { fingerprint } : {}) }))
    return this.#change(() => this.#client.setToolRules({ server, rule, tools: named }))
  }

  /** Removes a server from the person's own settings file. */
  readonly remove = (server: string): Promise<boolean> => this.#change(() => this.#client.removeToolServer(server))

  /** Reconnects a failed server. */
  readonly retry = (server: string): Promise<boolean> => this.#change(() => this.#client.retryToolServer(server))

  #change(work: () => Promise<ToolsAnswer>): Promise<boolean> {
    const changed = this.#last.then(async () => {
      this.#set({ isSaving: true, error: undefined })
      try {
        const answer = await work()
        this.#changes += 1
        this.#set({ answer })
        return true
      } catch (error) {
        this.#set({ error })
        await this.reload()
        return false
      } finally {
        this.#set({ isSaving: false })
      }
    })
    this.#last = changed
    return changed
  }

  async #follow(signal: AbortSignal): Promise<void> {
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

  #set(change: Partial<ToolsState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}
