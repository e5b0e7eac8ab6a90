import { setTimeout as delay } from 'node:timers/promises'
import type { StoredEvent } from '../../core/model/event.ts'
import { type Instant, instantOf } from '../../core/model/instant.ts'
import { type Ref, refKey, type Store } from '../../store/store.ts'

/** Receives committed events, in log order per conversation. */
export type EventObserver = (ref: Ref, events: readonly StoredEvent[]) => void

const PAGE = 500
/** Events read from the end of a log that has no recorded position. */
const FIRST_LOOK = 32
/** Delay before reading after a hint: own commits are reported by then and need no read. */
const LOOK_AFTER_MS = 200
const RETRY_LISTENING_MS = 500
const MAX_PLACES = 10_000

interface Place {
  readonly seq: number
  readonly at: Instant
}

/**
 * Reports every event committed from now on, by any process, exactly once: own commits as they are made, those of other
 * processes after a hint.
 */
export class EveryCommit {
  readonly #store: Store
  readonly #observer: EventObserver
  readonly #onError: (error: unknown) => void
  readonly #signal: AbortSignal
  readonly #places = new Map<string, Place>()
  readonly #behind = new Map<string, Ref>()
  /** For logs without a recorded position, only later events are reported. */
  #since: Promise<Instant>
  #timer: NodeJS.Timeout | undefined
  #isLooking = false

  constructor(store: Store, observer: EventObserver, onError: (error: unknown) => void, signal: AbortSignal) {
    this.#store = store
    this.#observer = observer
    this.#onError = onError
    this.#signal = signal
    this.#since = store.now().catch(() => instantOf(Date.now()))
    signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true })
    void this.#listen()
  }

  committed(ref: Ref, events: readonly StoredEvent[]): void {
    const [first] = events
    const last = events.at(-1)
    if (!first || !last) return
    const seen = this.#places.get(refKey(ref))?.seq ?? (first.seq === 1 ? 0 : undefined)
    if (seen === first.seq - 1) this.#report(ref, events)
    else if (seen === undefined || seen < last.seq) this.#lookAt(ref)
  }

  async #listen(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        for await (const hint of this.#store.changes(this.#signal)) {
          const { tenant, conversation } = hint
          const seen = this.#places.get(refKey(hint))?.seq ?? 0
          if (hint.kind === 'log' && seen < hint.seq) this.#lookAt({ tenant, conversation })
        }
      } catch (error) {
        if (this.#signal.aborted) return
        this.#onError(error)
        await delay(RETRY_LISTENING_MS, undefined, { ref: false })
      }
    }
  }

  #lookAt(ref: Ref): void {
    this.#behind.set(refKey(ref), ref)
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_AFTER_MS).unref()
  }

  async #look(): Promise<void> {
    this.#timer = undefined
    if (this.#isLooking) return
    this.#isLooking = true
    for (const [key, ref] of this.#behind) {
      this.#behind.delete(key)
      try {
        await (this.#places.has(key) ? this.#catchUp(ref) : this.#firstLook(ref))
      } catch (error) {
        if (!this.#signal.aborted) this.#onError(error)
      }
    }
    this.#isLooking = false
  }

  async #catchUp(ref: Ref): Promise<void> {
    let events: readonly StoredEvent[]
    do {
      events = await this.#store.eventsAfter(ref, this.#places.get(refKey(ref))?.seq ?? 0, PAGE)
      this.#report(ref, events)
    } while (events.length === PAGE && !this.#signal.aborted)
  }

  /** Reads a log backwards until the events are too old to report. */
  async #firstLook(ref: Ref): Promise<void> {
    const since = await this.#since
    for (let last = FIRST_LOOK; ; last *= 4) {
      const events = await this.#store.queries.events(ref, { last })
      const isAllNew = events.length === last && (events[0]?.timestamp ?? since) > since
      if (!isAllNew) return this.#report(ref, events, since)
    }
  }

  #report(ref: Ref, events: readonly StoredEvent[], since: Instant = ''): void {
    const last = events.at(-1)
    const seen = this.#places.get(refKey(ref))?.seq ?? 0
    if (!last || last.seq <= seen) return
    this.#places.delete(refKey(ref))
    this.#places.set(refKey(ref), { seq: last.seq, at: last.timestamp })
    const fresh = events.filter(({ seq, timestamp }) => seq > seen && timestamp > since)
    if (fresh.length > 0) this.#observer(ref, fresh)
    // Logs that wait to be read may have older events.
    if (this.#behind.size === 0) this.#forgetOldest()
  }

  #forgetOldest(): void {
    for (const [key, { at }] of this.#places) {
      if (this.#places.size <= MAX_PLACES) return
      this.#places.delete(key)
      // Events already reported for this log must not be reported again.
      this.#since = this.#since.then(since => (since < at ? at : since))
    }
  }
}
