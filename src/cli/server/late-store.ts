import { redactor } from '../../core/text/redact.ts'
import { StoreError } from '../../store/store-error.ts'
import type { LiveText, Store } from '../../store/store.ts'

const redact = redactor()

/**
 * A store that may open later, so that an MCP server can start without storage. Until then calls fail with the reason
 * and each one retries; background work waits.
 */
export class LateStore implements Store {
  readonly #open: () => Promise<Store>
  readonly #onOpen = Promise.withResolvers<Store>()
  #opening: Promise<void> | undefined
  #opened: Store | undefined
  #problem = 'Storage is not open.'
  #isClosed = false

  constructor(open: () => Promise<Store>) {
    this.#open = open
  }

  get isOpen(): boolean {
    return this.#opened !== undefined
  }

  get opened(): Promise<unknown> {
    return this.#onOpen.promise
  }

  /** Opens the store; returns the reason if that fails. */
  async tryOpen(): Promise<string | undefined> {
    if (!this.#opened && !this.#isClosed) {
      this.#opening ??= this.#attempt().finally(() => (this.#opening = undefined))
      await this.#opening
    }
    return this.#opened ? undefined : this.#problem
  }

  readonly commit: Store['commit'] = async (at, decide) => (await this.#tried()).commit(at, decide)
  readonly now: Store['now'] = async () => (await this.#tried()).now()
  readonly load: Store['load'] = async (...args) => (await this.#tried()).load(...args)
  readonly eventsAfter: Store['eventsAfter'] = async (...args) => (await this.#tried()).eventsAfter(...args)

  readonly claim: Store['claim'] = async (...args) => this.#store.claim(...args)
  readonly served: Store['served'] = async need => this.#store.served(need)
  readonly renew: Store['renew'] = async (...args) => this.#store.renew(...args)
  readonly release: Store['release'] = async lease => this.#store.release(lease)
  readonly due: Store['due'] = async limit => this.#store.due(limit)
  readonly probe: Store['probe'] = async options => this.#store.probe(options)

  readonly queries: Store['queries'] = {
    conversations: async (...args) => (await this.#tried()).queries.conversations(...args),
    conversation: async (...args) => (await this.#tried()).queries.conversation(...args),
    summaries: async (...args) => (await this.#tried()).queries.summaries(...args),
    review: async (...args) => (await this.#tried()).queries.review(...args),
    waiting: async (...args) => (await this.#tried()).queries.waiting(...args),
    waitingCount: async (...args) => (await this.#tried()).queries.waitingCount(...args),
    events: async (...args) => (await this.#tried()).queries.events(...args),
  }
  readonly live: LiveText = {
    write: async (...args) => this.#store.live?.write(...args),
    read: async (...args) => this.#store.live?.read(...args),
    clear: async (...args) => this.#store.live?.clear(...args),
  }

  changes(signal: AbortSignal): ReturnType<Store['changes']> {
    return this.#opened ? this.#opened.changes(signal) : this.#laterChanges(signal)
  }

  get place(): string {
    return this.#opened?.place ?? 'storage'
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opening
    await this.#opened?.close()
  }

  async *#laterChanges(signal: AbortSignal): ReturnType<Store['changes']> {
    const aborted = new Promise<undefined>(resolve => {
      if (signal.aborted) resolve(undefined)
      else signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    const store = await Promise.race([this.#onOpen.promise, aborted])
    if (store) yield* store.changes(signal)
  }

  async #tried(): Promise<Store> {
    await this.tryOpen()
    return this.#store
  }

  /** Always `io`, a transient code: each retry checks for damage. */
  get #store(): Store {
    if (this.#opened) return this.#opened
    throw new StoreError('io', redact.line(`${this.#problem} ${ADVICE}`))
  }

  async #attempt(): Promise<void> {
    try {
      this.#opened = await this.#open()
      this.#onOpen.resolve(this.#opened)
    } catch (error) {
      this.#problem = (error as Error).message
    }
  }
}

const ADVICE = 'Nothing was written. The next call looks again; to see what is wrong, the user can run: runsheet doctor'
