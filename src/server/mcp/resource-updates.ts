import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Door } from '../../engine/door/door.ts'

const RETRY_MS = 1_000

/**
 * Notifies subscribers when a conversation's log changes, in any process. Follows the store only while it has
 * subscribers.
 */
export class ResourceUpdates implements ServerEventBus {
  readonly #door: Door
  readonly #tenant: string
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<(event: ServerEvent) => void>()
  #following: AbortController | undefined

  constructor(door: Door, tenant: string, onError: (error: unknown) => void) {
    this.#door = door
    this.#tenant = tenant
    this.#onError = onError
  }

  publish(event: ServerEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    // Wrapped, so that subscribing the same listener twice makes two subscriptions.
    const own = (event: ServerEvent): void => listener(event)
    this.#listeners.add(own)
    if (!this.#following) {
      this.#following = new AbortController()
      void this.#follow(this.#following.signal)
    }
    return () => {
      if (!this.#listeners.delete(own) || this.#listeners.size > 0) return
      this.#following?.abort()
      this.#following = undefined
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const { kind, tenant, conversation } of this.#door.changes(signal)) {
        if (kind === 'log' && tenant === this.#tenant)
          this.publish({ kind: 'resource_updated', uri: tasksUri(conversation) })
      }
    } catch (error) {
      if (signal.aborted) return
      this.#onError(error)
      setTimeout(() => void (signal.aborted || this.#follow(signal)), RETRY_MS).unref()
    }
  }
}

export const tasksUri = (conversation: string): string => `runsheet://${conversation}/tasks`

export const isTasksUri = (uri: string): boolean => uri.startsWith('runsheet://')
