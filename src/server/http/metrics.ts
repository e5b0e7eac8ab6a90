import { setTimeout as delay } from 'node:timers/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Door } from '../../engine/door/door.ts'
import type { Limited, Refused } from './limits.ts'
import { PlanMetrics, type ReportedCall } from './plan-metrics.ts'

export interface MetricsOptions {
  /** Also counts commits by other processes to the same store. Leave off if those have metrics of their own. */
  readonly others?: boolean
  readonly tenant?: string
}

const MAX_PENDING = 1_000
const STORAGE_TIMEOUT_MS = 2_000

/** Counts and durations for Prometheus; never content. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = new Histogram({
    name: 'runsheet_http_request_duration_seconds',
    help: 'Requests by route and status; event streams count until their headers.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 30],
    registers: [this.#registry],
  })
  readonly #plans: PlanMetrics
  readonly #refused = new Counter({
    name: 'runsheet_limit_refusals_total',
    help: 'What a limit refused, and calls that were not held for a person, by limit and role.',
    labelNames: ['limit', 'role'] as const,
    registers: [this.#registry],
  })
  readonly #deliveries = new Counter({
    name: 'runsheet_webhook_deliveries_total',
    help: 'Attempts to tell the webhook, by event and outcome; a failed one is tried again.',
    labelNames: ['event', 'outcome'] as const,
    registers: [this.#registry],
  })
  readonly #door: Door
  readonly #tenant: string
  readonly contentType: string = this.#registry.contentType

  constructor(door: Door, { others = false, tenant = 'local' }: MetricsOptions = {}) {
    this.#door = door
    this.#tenant = tenant
    collectDefaultMetrics({ register: this.#registry })
    const plans = new PlanMetrics(this.#registry, door)
    this.#plans = plans
    door.observe(call => plans.called(call))
    door.observeEvents((ref, events) => plans.committed(ref, events), { others })
    this.#gauge(
      'runsheet_review_waiters',
      'Calls of this process that wait for a decision.',
      () => door.reviews.waiters,
    )
    this.#gauge('runsheet_reviews_pending', 'Reviews of the whole store that wait for a decision, up to 1,000.', () =>
      inTime(door.reviews.waitingCount(tenant, MAX_PENDING)),
    )
  }

  watch(streams: { readonly size: number; readonly cuts: number }): void {
    this.#gauge('runsheet_stream_readers', 'Open event streams.', () => streams.size)
    this.#gauge('runsheet_stream_cuts', 'Slow readers that were disconnected.', () => streams.cuts)
  }

  watchTurns(worker: { readonly driven: number }): void {
    this.#gauge(
      'runsheet_turns_running',
      'Turns that this process drives now; waiting ones do not count.',
      () => worker.driven,
    )
  }

  watchNotices(): void {
    this.#gauge('runsheet_webhook_waiting', 'Events of the whole store that the webhook is still to be told of.', () =>
      inTime(this.#door.notices.waiting(this.#tenant).then(({ count }) => count)),
    )
  }

  delivered(event: string, outcome: string): void {
    this.#deliveries.labels(event, outcome).inc()
  }

  request(method: string, route: string, status: number, seconds: number): void {
    this.#requests.labels(method, route, String(status)).observe(seconds)
  }

  reported(call: ReportedCall): void {
    this.#plans.reported(call)
  }

  refused(limit: Limited, role: Refused): void {
    this.#refused.labels(limit, role).inc()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #gauge(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: async () => gauge.set(await read()),
    })
  }
}

/** Slow or failing storage must not block the other metrics. */
const inTime = (count: Promise<number>): Promise<number> =>
  Promise.race([count.catch(() => Number.NaN), delay(STORAGE_TIMEOUT_MS, Number.NaN, { ref: false })])
