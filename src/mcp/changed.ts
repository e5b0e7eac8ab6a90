import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Door } from '../door/door.ts'

const LISTEN_AGAIN_MS = 1_000

export const tasksUri = (conversation: string): string => `runsheet://${conversation}/tasks`
export const isTasksUri = (uri: string): boolean => uri.startsWith('runsheet://')

/** Tells subscribers that a conversation's log changed, in whichever process. Listens only while there are subscribers. */
export class Changed implements ServerEventBus {
  readonly #door: Door
  readonly #tenant: string
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<(event: ServerEvent) => void>()
  #listening: AbortController | undefined

  constructor(door: Door, tenant: string, onError: (error: unknown) => void) {
    this.#door = door
    this.#tenant = tenant
    this.#onError = onError
  }

  publish(event: ServerEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    // A function of its own, so that a listener can subscribe twice and leave once.
    const mine = (event: ServerEvent): void => listener(event)
    this.#listeners.add(mine)
    if (!this.#listening) {
      this.#listening = new AbortController()
      void this.#listen(this.#listening.signal)
    }
    return () => {
      if (!this.#listeners.delete(mine) || this.#listeners.size > 0) return
      this.#listening?.abort()
      this.#listening = undefined
    }
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      for await (const { kind, tenant, conversation } of this.#door.changes(signal)) {
        if (kind === 'log' && tenant === this.#tenant)
          this.publish({ kind: 'resource_updated', uri: tasksUri(conversation) })
      }
    } catch (error) {
      if (signal.aborted) return
      this.#onError(error)
      setTimeout(() => void (signal.aborted || this.#listen(signal)), LISTEN_AGAIN_MS).unref()
    }
  }
}
