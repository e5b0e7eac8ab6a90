import { StoreError } from '../../store/store-error.ts'
import type { LiveText, Notices, Search, Store, Templates } from '../../store/store.ts'

export type StorageReport =
  /** A failure, reported once until storage recovers. Each damaged part counts as its own failure. */
  | {
      readonly kind: 'failed'
      readonly error: StoreError
      readonly file?: string
    }
  | {
      readonly kind: 'recovered'
      /** The last failure; `failures` and `ms` cover the whole outage. */
      readonly error: StoreError
      readonly failures: number
      readonly ms: number
    }

export type StorageObserver = (report: StorageReport) => void

interface Failing {
  readonly since: number
  error: StoreError
  failures: number
}

/** Minimum interval between probes while storage works: anyone may request readiness, and each probe is a flush. */
const PROBE_EVERY_MS = 1_000
const MAX_REPORTED = 100

/** Damaged or replaced files do not recover while they are open. */
const FINAL: ReadonlySet<StoreError['code']> = new Set(['corrupt', 'newer', 'older', 'replaced'])

/** After these a small write may succeed while the next larger one fails again. */
const LACKS_ROOM: ReadonlySet<StoreError['code'] | undefined> = new Set(['full', 'io'])

/**
 * Tracks whether storage works. It sees the failures of all calls on all edges. A failure ends once a probe succeeds; a
 * probe runs on each readiness check, and after calls that succeed while storage is failing.
 */
export class StorageHealth {
  readonly #store: Pick<Store, 'probe' | 'place'>
  readonly #observers = new Set<StorageObserver>()
  readonly #reported = new Set<string>()
  readonly #seen = new WeakSet<StoreError>()
  #failing: Failing | undefined
  #probing: Promise<void> | undefined
  #probedAt = Number.NEGATIVE_INFINITY

  constructor(store: Pick<Store, 'probe' | 'place'>) {
    this.#store = store
  }

  observe(observer: StorageObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  failed(error: unknown): void {
    if (!(error instanceof StoreError) || !error.isFault) return
    const isOfOneFile = concernsOneFile(error)
    if (!isOfOneFile) {
      this.#failing ??= { since: performance.now(), error, failures: 0 }
      this.#failing.error = FINAL.has(this.#failing.error.code) ? this.#failing.error : error
      this.#failing.failures += 1
    }
    const file = error.file ?? this.#store.place
    // Each damaged row is a separate failure. A full disk is one failure, whichever call hit it and however it is
    // worded.
    const which = error.code === 'corrupt' ? `${error.message} ${error.detail}` : ''
    if (isOfOneFile ? this.#isNewOfFile(error) : this.#isNews(`${error.code} ${file} ${which}`)) {
      this.#tell({ kind: 'failed', error, ...(file === undefined ? {} : { file }) })
    }
  }

  worked(): void {
    if (!this.#failing || FINAL.has(this.#failing.error.code)) return
    if (performance.now() - this.#probedAt >= PROBE_EVERY_MS) this.#probe().catch(() => {})
  }

  async ready(): Promise<void> {
    if (this.#failing && FINAL.has(this.#failing.error.code)) throw this.#failing.error
    if (this.#failing || performance.now() - this.#probedAt >= PROBE_EVERY_MS) await this.#probe()
  }

  #probe(): Promise<void> {
    this.#probing ??= this.#tryOut().finally(() => {
      this.#probing = undefined
      this.#probedAt = performance.now()
    })
    return this.#probing
  }

  async #tryOut(): Promise<void> {
    const before = this.#failing
    const failures = before?.failures
    try {
      await this.#store.probe({ room: LACKS_ROOM.has(before?.error.code) })
    } catch (error) {
      this.failed(error)
      throw error
    }
    // Another call may have failed during the probe.
    if (before && this.#failing === before && before.failures === failures) this.#recovered(before)
  }

  #recovered({ error, failures, since }: Failing): void {
    this.#failing = undefined
    this.#reported.clear()
    this.#tell({ kind: 'recovered', error, failures, ms: Math.round(performance.now() - since) })
  }

  /** A broken file stays the same failure until it changes. */
  #isNewOfFile(error: StoreError): boolean {
    if (this.#seen.has(error)) return false
    this.#seen.add(error)
    return true
  }

  #isNews(failure: string): boolean {
    if (this.#reported.has(failure)) return false
    if (this.#reported.size >= MAX_REPORTED) this.#reported.clear()
    this.#reported.add(failure)
    return true
  }

  #tell(report: StorageReport): void {
    for (const observer of this.#observers) {
      try {
        observer(report)
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error))
      }
    }
  }
}

/** Drops storage failures: the door reports those once. */
export const exceptStorage =
  (onError: (error: unknown) => void) =>
  (error: unknown): void => {
    if (!(error instanceof StoreError) || !error.isFault) onError(error)
  }

/** A broken or oversized task file says nothing about the disk. */
const concernsOneFile = ({ code, cause }: StoreError): boolean =>
  code === 'file_invalid' || (code === 'full' && cause === undefined)

export type Seam = Store & typeof WITHOUT

/** Wraps a store: fills in each missing capability and reports the outcome of every call to `health`. */
export const seamOf = (store: Store, health: StorageHealth): Seam => watched(store, health, WITHOUT) as Seam

const refusing = (what: string) => async (): Promise<never> => {
  throw new StoreError('unsupported', `This store has no ${what}. SQLite, JSON files and PostgreSQL have.`)
}
const noSearch = refusing('search')
const noNotices = refusing('notices')

/** The answers of a missing capability: reads return nothing, writes are refused. */
const WITHOUT: {
  readonly search: Search
  readonly templates: Templates
  readonly live: LiveText
  readonly notices: Notices
} = {
  search: { conversations: noSearch, tasks: noSearch, all: noSearch },
  templates: {
    get: async () => undefined,
    list: async () => [],
    put: refusing('templates'),
    rename: async () => 'unknown',
    delete: async () => false,
  },
  // Readers of a running step get its text once it is in the log.
  live: { write: async () => {}, read: async () => undefined, clear: async () => {} },
  notices: { want: noNotices, take: noNotices, settle: noNotices, waiting: async () => ({ count: 0 }) },
}

function watched<T extends object>(target: T, health: StorageHealth, without: object = {}): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name) ?? Reflect.get(without, name)
      if (typeof value === 'function') return (...args: unknown[]) => watchCall(() => value.apply(target, args), health)
      return typeof value === 'object' && value !== null ? watched(value, health) : value
    },
  })
}

function watchCall(call: () => unknown, health: StorageHealth): unknown {
  try {
    const result = call()
    if (result instanceof Promise) return watchPromise(result, health)
    return isIterable(result) ? watchEach(result, health) : result
  } catch (error) {
    health.failed(error)
    throw error
  }
}

async function watchPromise<T>(promise: Promise<T>, health: StorageHealth): Promise<T> {
  try {
    const value = await promise
    health.worked()
    return value
  } catch (error) {
    health.failed(error)
    throw error
  }
}

async function* watchEach(items: AsyncIterable<unknown>, health: StorageHealth): AsyncGenerator<unknown, void> {
  try {
    yield* items
  } catch (error) {
    health.failed(error)
    throw error
  }
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value
