import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Door, ObservedCall } from '../door/door.ts'

/** Counts and durations for Prometheus, by route and tool; never content. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = new Histogram({
    name: 'runsheet_http_request_duration_seconds',
    help: 'Requests by route and status; event streams count until their headers.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 30],
    registers: [this.#registry],
  })
  readonly #calls = new Counter({
    name: 'runsheet_tool_calls_total',
    help: 'Tool calls by toolset, tool and outcome.',
    labelNames: ['toolset', 'tool', 'outcome'] as const,
    registers: [this.#registry],
  })
  readonly #decisions = new Counter({
    name: 'runsheet_review_decisions_total',
    help: 'Review decisions by action.',
    labelNames: ['action'] as const,
    registers: [this.#registry],
  })
  readonly contentType: string = this.#registry.contentType

  constructor(door: Pick<Door, 'reviews' | 'observe'>) {
    collectDefaultMetrics({ register: this.#registry })
    this.#gauge('runsheet_review_waiters', 'Calls that wait for a decision.', () => door.reviews.waiters)
    door.observe(call => this.#call(call))
  }

  /** Adds the figures of the event streams. */
  watch(streams: { readonly size: number; readonly cuts: number }): void {
    this.#gauge('runsheet_stream_readers', 'Open event streams.', () => streams.size)
    this.#gauge('runsheet_stream_cuts', 'Slow readers that were disconnected.', () => streams.cuts)
  }

  request(method: string, route: string, status: number, seconds: number): void {
    this.#requests.labels(method, route, String(status)).observe(seconds)
  }

  decision(action: string): void {
    this.#decisions.labels(action).inc()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #call({ toolset, tool, outcome }: ObservedCall): void {
    this.#calls.labels(toolset, tool, outcome).inc()
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.#registry], collect: () => gauge.set(read()) })
  }
}
