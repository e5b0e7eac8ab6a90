import { setTimeout as delay } from 'node:timers/promises'
import { noticeOf, type NoticeType } from '../core/views/notice.ts'
import type { StoredEvent } from '../core/model/event.ts'
import type { Door, TakenNotice } from '../engine/door/door.ts'
import { WebhookFailure, post, type PostOptions } from './post.ts'
import { eventId, signedHeaders, type WebhookSettings } from './settings.ts'

/** `dropped`: not sent, because it is outdated or too old. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'given_up' | 'dropped'

export interface SenderOptions {
  readonly door: Door
  readonly tenant: string
  readonly settings: WebhookSettings
  readonly version: string
  readonly onOutcome?: (type: NoticeType, outcome: DeliveryOutcome) => void
  /** Called on the first failure; `onWorking` on the first delivery after failures. */
  readonly onFailing?: (failure: WebhookFailure) => void
  readonly onWorking?: (failures: number) => void
  /** Called with storage failures and internal errors. */
  readonly onError?: (error: unknown) => void
  readonly timings?: Partial<Timings>
  readonly lookup?: PostOptions['lookup']
}

export interface Timings {
  readonly timeoutMs: number
  /** Lease on a notice: how long one process owns it. */
  readonly leaseMs: number
  /** Delay before the first retry; doubles up to `maxBackoffMs`. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** Poll interval, for notices whose hint was lost. */
  readonly pollMs: number
}

const TIMINGS: Timings = {
  timeoutMs: 10_000,
  leaseMs: 30_000,
  backoffMs: 5_000,
  maxBackoffMs: 3_600_000,
  pollMs: 5_000,
}

/** More than four hours of retries. */
export const MAX_TRIES = 14
const MAX_AGE_MS = 24 * 3_600_000
const MAX_AT_ONCE = 4
const DEBOUNCE_MS = 50
/** Notices are stored this long after the last sender renewed its subscription. */
const WANTED_MS = 3 * 24 * 3_600_000
const RENEW_WANTED_MS = 3_600_000

/**
 * Delivers notices to a webhook at least once. Pending notices and their tries are stored, so a restart resumes. If a
 * process dies between a delivery and its record, the notice is delivered again with the same id.
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
  #failures = 0

  constructor(options: SenderOptions) {
    this.#options = options
    this.#timings = { ...TIMINGS, ...options.timings }
  }

  get size(): number {
    return this.#deliveries.size
  }

  start(): void {
    void this.#listen()
    this.#running = this.#run()
  }

  /** Aborts deliveries in progress; the next process resumes them. */
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

  /** Sleeps until woken or timed out, and debounces bursts of commits. */
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

  /** Starts due deliveries up to the limit. Returns how long to sleep. */
  async #look(): Promise<number> {
    const { door, tenant, onError } = this.#options
    const { leaseMs, pollMs } = this.#timings
    try {
      await this.#want()
      while (!this.#ending.signal.aborted) {
        const room = MAX_AT_ONCE - this.#deliveries.size
        // Read before taking: taking is a write, and usually nothing is due.
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

  /** Renews the subscription that makes the store keep notices. */
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
    // Taken too often without being settled: every process that tried has died.
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

  /** False if the notice is too old, or its review or dispute is over. An unreadable conversation counts as true. */
  async #isWorthIt({ tenant, conversation }: TakenNotice, event: StoredEvent): Promise<boolean> {
    const { door } = this.#options
    if (Date.parse(await door.now()) - Date.parse(event.timestamp) > MAX_AGE_MS) return false
    if (event.type === 'turn_finished') return true
    const state = await door.read({ tenant, conversation }).catch(() => undefined)
    if (state === undefined) return true
    if (event.type === 'task_create_review_required')
      return state.reviews.get(event.data.review_id)?.status === 'pending'
    return event.type !== 'task_changed' || state.disputed.includes(event.data.task.id)
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

  /** With jitter, so that nodes that failed together do not retry together. */
  #backoff(tries: number): number {
    const { backoffMs, maxBackoffMs } = this.#timings
    return Math.min(maxBackoffMs, backoffMs * 2 ** (tries - 1)) * (0.75 + Math.random() / 2)
  }
}
