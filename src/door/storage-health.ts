import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'

/** What an operator should know of storage. */
export type StorageReport =
  /** A failure, reported once until storage works again; each damage is one. */
  | {
      readonly kind: 'failed'
      readonly error: StoreError
      /** The file at fault, within the data folder, where there is one. */
      readonly file?: string
    }
  | {
      readonly kind: 'recovered'
      /** The last failure, how many there were, and for how long. */
      readonly error: StoreError
      readonly failures: number
      readonly ms: number
    }

/** Receives reports on storage. */
export type StorageObserver = (report: StorageReport) => void

/** A storage failure that has begun and is not over. */
interface Failing {
  readonly since: number
  error: StoreError
  failures: number
}

/** At most one probe in this time, unless storage fails: anybody may ask for readiness, and each probe is a flush. */
const PROBE_EVERY_MS = 1_000
/** Distinct failures remembered as reported. */
const MAX_REPORTED = 100

/** What is damaged, or no longer where it was, does not mend itself while it is open. */
const FINAL: ReadonlySet<StoreError['code']> = new Set(['corrupt', 'newer', 'older', 'replaced'])

/** After these a small write may succeed where the next larger one fails again. */
const LACKS_ROOM: ReadonlySet<StoreError['code'] | undefined> = new Set(['full', 'io'])

/**
 * Whether storage works. Every failure of every call is seen here, whichever edge it came from. It is over once a probe
 * succeeds; one runs when readiness is asked for, and after calls that worked while storage was failing.
 */
export class StorageHealth {
  readonly #store: Pick<Store, 'probe' | 'place'>
  readonly #observers = new Set<StorageObserver>()
  readonly #reported = new Set<string>()
  /** Failures of single files that were reported. */
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

  /** Takes the outcome of a call: why it failed, or nothing. */
  failed(error: unknown): void {
    if (!(error instanceof StoreError) || !error.isFault) return
    const isOfOneFile = concernsOneFile(error)
    if (!isOfOneFile) {
      this.#failing ??= { since: performance.now(), error, failures: 0 }
      this.#failing.error = FINAL.has(this.#failing.error.code) ? this.#failing.error : error
      this.#failing.failures += 1
    }
    const file = error.file ?? this.#store.place
    // Each damaged row is one failure; a disk is full once, whatever was to be written, and whichever call words it how.
    const which = error.code === 'corrupt' ? `${error.message} ${error.detail}` : ''
    if (isOfOneFile ? this.#isNewOfFile(error) : this.#isNews(`${error.code} ${file} ${which}`)) {
      this.#tell({ kind: 'failed', error, ...(file === undefined ? {} : { file }) })
    }
  }

  worked(): void {
    if (!this.#failing || FINAL.has(this.#failing.error.code)) return
    if (performance.now() - this.#probedAt >= PROBE_EVERY_MS) this.#probe().catch(() => {})
  }

  /** Rejects with the reason while storage fails. */
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
    // Something may have failed meanwhile.
    if (before && this.#failing === before && before.failures === failures) this.#recovered(before)
  }

  #recovered({ error, failures, since }: Failing): void {
    this.#failing = undefined
    this.#reported.clear()
    this.#tell({ kind: 'recovered', error, failures, ms: Math.round(performance.now() - since) })
  }

  /** A broken file is the same failure until it has changed. */
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

/** Passes on what is not a storage failure: those are reported by the door, once. */
export const exceptStorage =
  (onError: (error: unknown) => void) =>
  (error: unknown): void => {
    if (!(error instanceof StoreError) || !error.isFault) onError(error)
  }

/** A task file that is broken, or would become too large, says nothing about the disk. */
const concernsOneFile = ({ code, cause }: StoreError): boolean =>
  code === 'file_invalid' || (code === 'full' && cause === undefined)
