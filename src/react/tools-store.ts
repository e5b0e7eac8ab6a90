import type { Client } from '../client/client.ts'
import type { ToolRule } from '../domain/tool-rules.ts'
import type { ServerToolView, ToolsAnswer } from '../domain/wire.ts'

/** The tools of the agent as this window knows them. */
export interface ToolsState {
  /** Undefined until they are loaded. */
  readonly answer: ToolsAnswer | undefined
  /** A change is on its way. */
  readonly isSaving: boolean
  /** Why the last request failed. */
  readonly error: unknown
}

type ToolsClient = Pick<Client, 'tools' | 'setToolRules' | 'removeToolServer' | 'retryToolServer'>

/** How often the tools are looked at: a server connects, or a person adds one in a terminal. */
const POLL_MS = 2_000

/** Loads and changes the tools of the agent. `subscribe` and `snapshot` are what `useSyncExternalStore` takes. */
export class ToolsStore {
  readonly #client: ToolsClient
  readonly #pollMs: number | undefined
  readonly #listeners = new Set<() => void>()
  #state: ToolsState = { answer: undefined, isSaving: false, error: undefined }
  #leave = new AbortController()
  #changes = 0
  #last: Promise<unknown> = Promise.resolve()

  /** `isLive`: follows them while there is a listener. */
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
      // A change that was made meanwhile has the newer answer.
      if (!signal.aborted && before === this.#changes) this.#set({ answer })
    } catch (error) {
      if (!signal.aborted) this.#set({ error })
    }
  }

  /** Sets the rule of some tools, as this window shows them; null: as the configuration has it. Whether it was saved. */
  readonly setRule = (server: string, rule: ToolRule | null, tools: readonly ServerToolView[]): Promise<boolean> => {
    const named = tools.map(({ name, fingerprint }) => ({ name, ...(rule === 'always' ? { fingerprint } : {}) }))
    return this.#change(() => this.#client.setToolRules({ server, rule, tools: named }))
  }

  /** Takes a server out of the person's own settings file. */
  readonly remove = (server: string): Promise<boolean> => this.#change(() => this.#client.removeToolServer(server))

  /** Tries a server that failed again. */
  readonly retry = (server: string): Promise<boolean> => this.#change(() => this.#client.retryToolServer(server))

  /** One change after the other. */
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
