import { setTimeout as delay } from 'node:timers/promises'
import { type NoticeType, noticeOf } from '../domain/notice.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { Door, TakenNotice } from '../door/door.ts'
import { WebhookFailure } from './failure.ts'
import { post, type PostOptions } from './post.ts'
import type { WebhookSettings } from './settings.ts'
import { eventId, signedHeaders } from './signature.ts'

/** How a delivery ended. `dropped`: nothing was sent, because it is no longer true or too old. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'given_up' | 'dropped'

export interface SenderOptions {
  readonly door: Door
  readonly tenant: string
  readonly settings: WebhookSettings
  /** Sent as the user agent. */
  readonly version: string
  readonly onOutcome?: (type: NoticeType, outcome: DeliveryOutcome) => void
  /** Hears of the first failure, and of the first delivery after failures. */
  readonly onFailing?: (failure: WebhookFailure) => void
  readonly onWorking?: (failures: number) => void
  /** Receives failures of storage and of our own. */
  readonly onError?: (error: unknown) => void
  readonly timings?: Partial<Timings>
  readonly lookup?: PostOptions['lookup']
}

/** In milliseconds. */
export interface Timings {
  /** How long an answer may take. */
  readonly timeoutMs: number
  /** How long one process has a notice to itself. */
  readonly leaseMs: number
  /** The first wait before a retry; it doubles up to the last. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** How often to look for notices whose hint was lost. */
  readonly pollMs: number
}

const TIMINGS: Timings = {
  timeoutMs: 10_000,
  leaseMs: 30_000,
  backoffMs: 5_000,
  maxBackoffMs: 3_600_000,
  pollMs: 5_000,
}

/** More than four hours of trying. */
export const MAX_TRIES = 14
/** What is older is not sent any more. */
const MAX_AGE_MS = 24 * 3_600_000
const MAX_AT_ONCE = 4
/** Commits that come together are looked for once. */
const DEBOUNCE_MS = 50
/** How long notices are kept if no sender renews that. */
const WANTED_MS = 3 * 24 * 3_600_000
const RENEW_WANTED_MS = 3_600_000

/**
 * Delivers notices to a webhook, at least once each. The store has what is to be sent and how often that was tried, so a
 * restart goes on where it ended; a process that dies after a delivery and before it is noted delivers again, with the same
 * id.
 */
export class WebhookSender {
  readonly #options: SenderOptions
  readonly #timings: Timings
  readonly #deliveries = new Set<Promise<void>>()
  readonly #ending = new AbortController()
  #running: Promise<void> | undefined
  #isWoken = false
  #wakeUp = (): void => {}
  #wantedUntil = 0
  /** Failures in a row. */
  #failures = 0

  constructor(options: SenderOptions) {
    this.#options = options
    this.#timings = { ...TIMINGS, ...options.timings }
  }

  /** How many deliveries are under way. */
  get size(): number {
    return this.#deliveries.size
  }

  start(): void {
    void this.#listen()
    this.#running = this.#run()
  }

  /** Gives up what is under way; the next process sends it. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('The sender was closed.'))
    this.#wake()
    await this.#running
    await Promise.all(this.#deliveries)
  }

  async #listen(): Promise<void> {
    const { door, tenant, onError } = this.#options
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        for await (const hint of door.changes(signal)) {
          if (hint.kind === 'log' && hint.tenant === tenant) this.#wake()
        }
      } catch (error) {
        if (signal.aborted) return
        onError?.(error)
        await delay(this.#timings.pollMs, undefined, { ref: false, signal }).catch(() => {})
      }
    }
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted) await this.#sleep(await this.#look())
  }

  #wake(): void {
    this.#isWoken = true
    this.#wakeUp()
  }

  /** For so long at most. Commits that come together wake it once. */
  async #sleep(ms: number): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, ms).unref()
        this.#wakeUp = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    if (this.#isWoken) await delay(DEBOUNCE_MS, undefined, { ref: false })
    this.#isWoken = false
  }

  /** Begins what is due, as far as there is room. Returns how long to sleep if nothing happens. */
  async #look(): Promise<number> {
    const { door, tenant, onError } = this.#options
    const { leaseMs, pollMs } = this.#timings
    try {
      await this.#want()
      while (!this.#ending.signal.aborted) {
        const room = MAX_AT_ONCE - this.#deliveries.size
        // Read first: to take is a write, and mostly there is nothing.
        const { dueInMs = pollMs } = await door.notices.waiting(tenant)
        if (room <= 0 || dueInMs > 0) return dueInMs > 0 ? Math.min(pollMs, dueInMs) : pollMs
        const taken = await door.notices.take(tenant, room, leaseMs)
        if (taken.length === 0) return pollMs
        for (const notice of taken) this.#begin(notice)
      }
    } catch (error) {
      if (!this.#ending.signal.aborted) onError?.(error)
    }
    return pollMs
  }

  /** Keeps the store noting what is to be told. */
  async #want(): Promise<void> {
    if (performance.now() < this.#wantedUntil) return
    await this.#options.door.notices.want(this.#options.tenant, WANTED_MS)
    this.#wantedUntil = performance.now() + RENEW_WANTED_MS
  }

  #begin(notice: TakenNotice): void {
    const delivery = this.#deliver(notice)
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#options.onError?.(error)
      })
      .finally(() => {
        this.#deliveries.delete(delivery)
        this.#wake()
      })
    this.#deliveries.add(delivery)
  }

  async #deliver(notice: TakenNotice): Promise<void> {
    const { door, onOutcome } = this.#options
    const [event] = await door.conversations.eventsAfter(notice, notice.seq - 1, 1)
    const told = event && noticeOf(event)
    // Taken too often without an end: whoever tried died each time.
    const isSpent = notice.tries > MAX_TRIES
    if (!told || isSpent || !(await this.#isWorthIt(notice, event))) {
      await door.notices.settle(notice)
      if (told) onOutcome?.(told.type, isSpent ? 'given_up' : 'dropped')
      return
    }
    const id = eventId(notice, event)
    const failure = await this.#send(id, JSON.stringify({ id, ...told })).catch(async (error: unknown) => {
      await door.notices.settle(notice, 0)
      throw error
    })
    const isLast = notice.tries >= MAX_TRIES
    await door.notices.settle(notice, failure && !isLast ? this.#backoff(notice.tries) : undefined)
    onOutcome?.(told.type, failure ? (isLast ? 'given_up' : 'failed') : 'delivered')
  }

  /** Whether it is not too old, and a review still waits, as far as that can be read. */
  async #isWorthIt({ tenant, conversation }: TakenNotice, event: StoredEvent): Promise<boolean> {
    const { door } = this.#options
    if (Date.parse(await door.now()) - Date.parse(event.timestamp) > MAX_AGE_MS) return false
    if (event.type !== 'task_create_review_required') return true
    const state = await door.read({ tenant, conversation }).catch(() => undefined)
    return state === undefined || state.reviews.get(event.data.review_id)?.status === 'pending'
  }

  async #send(id: string, body: string): Promise<WebhookFailure | undefined> {
    const { settings, version, onFailing, onWorking, lookup } = this.#options
    const headers = { ...signedHeaders(id, body, settings.key, Date.now()), 'user-agent': `runsheet/${version}` }
    const { signal } = this.#ending
    try {
      await post(settings, body, headers, {
        timeoutMs: this.#timings.timeoutMs,
        signal,
        ...(lookup ? { lookup } : {}),
      })
      if (this.#failures > 0) onWorking?.(this.#failures)
      this.#failures = 0
      return undefined
    } catch (error) {
      if (!(error instanceof WebhookFailure)) throw error
      this.#failures += 1
      if (this.#failures === 1) onFailing?.(error)
      return error
    }
  }

  /** With jitter, so that nodes that failed together do not come back together. */
  #backoff(tries: number): number {
    const { backoffMs, maxBackoffMs } = this.#timings
    return Math.min(maxBackoffMs, backoffMs * 2 ** (tries - 1)) * (0.75 + Math.random() / 2)
  }
}
