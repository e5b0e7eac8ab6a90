import type { Redactor } from '../domain/redact.ts'
import type { HookEvent, HookFeatures } from '../hooks/event.ts'
import { ProcessNotes } from '../hooks/process-notes.ts'
import type { HookHost } from '../hosts/hosts.ts'
import { commandHost } from '../hosts/hosts.ts'
import type { Hooked } from './binding.ts'

export interface HostHooksOptions {
  readonly features: HookFeatures
  readonly redact: Redactor
  /** The session last recorded by command hooks of this host, which run in other processes. */
  readonly noted?: ((host: HookHost) => string | undefined) | undefined
}

/** Reports from the hooks of the host that started this process. */
export class HostHooks {
  readonly options: HostHooksOptions
  readonly notes: ProcessNotes = new ProcessNotes()
  #last: Hooked | undefined

  constructor(options: HostHooksOptions) {
    this.options = options
  }

  heard({ session, turn }: HookEvent): void {
    const before = this.#last?.session === session ? this.#last : undefined
    this.#last = { session, turn: turn ?? before?.turn }
  }

  hooked(client: string | undefined): Hooked | undefined {
    if (this.#last) return this.#last
    const host = commandHost(client)
    const session = host && this.options.noted?.(host)
    return session === undefined ? undefined : { session, turn: undefined }
  }
}
