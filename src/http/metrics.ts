import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ObservedCall } from '../door/door.ts'

/** Counts and durations, by route and tool; never what was said. */
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
    help: 'Decisions of persons on reviews.',
    labelNames: ['action'] as const,
    registers: [this.#registry],
  })

  constructor(streams: { readonly size: number; readonly cuts: number }, reviews: { readonly waiters: number }) {
    collectDefaultMetrics({ register: this.#registry })
    this.#gauge('runsheet_review_waiters', 'Calls that wait for a decision.', () => reviews.waiters)
    this.#gauge('runsheet_stream_readers', 'Event streams that are open.', () => streams.size)
    this.#gauge('runsheet_stream_cuts', 'Readers that were cut off because they did not read.', () => streams.cuts)
  }

  readonly contentType = this.#registry.contentType

  request(method: string, route: string, status: number, seconds: number): void {
    this.#requests.labels(method, route, String(status)).observe(seconds)
  }

  call({ toolset, tool, outcome }: ObservedCall): void {
    this.#calls.labels(toolset, tool, outcome).inc()
  }

  decision(action: string): void {
    this.#decisions.labels(action).inc()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.#registry], collect: () => gauge.set(read()) })
  }
}
