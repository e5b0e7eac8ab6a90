import { setTimeout as delay } from 'node:timers/promises'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Usage } from '../../core/model/event.ts'
import { dispatch, type Handlers } from '../../core/model/log.ts'
import { OUTCOMES } from '../../core/model/review-action.ts'
import type { Door, Edge, ObservedCall, Ref } from '../../engine/door/door.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import type { Limited, Refused } from './limits.ts'

export interface MetricsOptions {
  /** Also counts commits by other processes to the same store. Leave off if those have metrics of their own. */
  readonly others?: boolean
  readonly tenant?: string
}

const MAX_PENDING = 1_000
const STORAGE_TIMEOUT_MS = 2_000

const REVIEW_SECONDS = [1, 5, 15, 60, 300, 1_800, 7_200, 86_400]
/** Wide range: calls that wait for a person take as long as the person. */
const CALL_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 30, 300, 3_600]

/** Reasons are free text: only known ones become labels. */
const REASONS: ReadonlySet<string> = new Set(['none', ...Object.keys(OUTCOMES)])

const TOOLSET_OF: ReadonlyMap<string, string> = new Map(
  Object.values(toolsets).flatMap(({ name, tools }) => tools.map(tool => [tool.name, name])),
)

/**
 * Counts and durations for Prometheus; never content. Calls, turns, claims, checks, verdicts, reviews and tokens are
 * derived from committed events, so that every edge and process counts alike and replays do not count; only calls that
 * left no event are counted when observed.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #door: Door
  readonly #tenant: string
  readonly contentType: string = this.#registry.contentType

  readonly #requests = this.#histogram(
    'runsheet_http_request_duration_seconds',
    'Requests by route and status; event streams count until their headers.',
    ['method', 'route', 'status'],
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 30],
  )
  readonly #refused = this.#counter(
    'runsheet_limit_refusals_total',
    'What a limit refused, and calls that were not held for a person, by limit and role.',
    ['limit', 'role'],
  )
  readonly #deliveries = this.#counter(
    'runsheet_webhook_deliveries_total',
    'Attempts to tell the webhook, by event and outcome; a failed one is tried again.',
    ['event', 'outcome'],
  )
  readonly #calls = this.#counter('runsheet_tool_calls_total', 'Answered tool calls.', [
    'toolset',
    'tool',
    'edge',
    'outcome',
  ])
  readonly #callSeconds = this.#histogram(
    'runsheet_tool_call_duration_seconds',
    'From a call to its answer, waiting for a person included.',
    ['toolset', 'tool', 'edge'],
    CALL_SECONDS,
  )
  readonly #started = this.#counter(
    'runsheet_turns_started_total',
    'Turns of ours (driven) and of external agents (outside).',
    ['kind'],
  )
  readonly #finished = this.#counter('runsheet_turns_finished_total', 'Turns that ended.', ['status', 'reason'])
  readonly #verdicts = this.#counter('runsheet_verdicts_total', 'Verdicts on claims.', ['verdict', 'model'])
  readonly #claims = this.#counter('runsheet_claims_total', 'Claims that were granted or refused.', [
    'result',
    'because',
  ])
  readonly #runs = this.#counter('runsheet_check_runs_total', 'Runs of checks.', ['result', 'why'])
  readonly #opened = this.#counter('runsheet_reviews_opened_total', 'Reviews that were opened.', ['toolset'])
  readonly #resolved = this.#counter('runsheet_reviews_resolved_total', 'Reviews that ended.', ['action', 'reason'])
  readonly #waited = this.#histogram(
    'runsheet_review_wait_seconds',
    'From a review to its end.',
    ['action'],
    REVIEW_SECONDS,
  )
  readonly #spent = this.#counter('runsheet_tokens_total', 'Tokens as providers report them.', [
    'model',
    'role',
    'direction',
  ])

  constructor(door: Door, { others = false, tenant = 'local' }: MetricsOptions = {}) {
    this.#door = door
    this.#tenant = tenant
    collectDefaultMetrics({ register: this.#registry })
    door.observe(({ toolset, tool, edge, outcome, duration_ms, stored }) => {
      if (!stored) this.#call({ toolset, tool, edge }, outcome, duration_ms)
    })
    door.observeEvents((ref, events) => events.forEach(event => dispatch(this.#on, ref, event, undefined)), { others })
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

  refused(limit: Limited, role: Refused): void {
    this.#refused.labels(limit, role).inc()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  readonly #on: Handlers<Ref, void> = {
    tool_answered: (_, { data: { tool, edge, ok, duration_ms } }) => {
      this.#call(labelsOf(tool, edge), ok ? 'ok' : 'refused', duration_ms)
    },
    turn_opened: () => this.#started.inc({ kind: 'outside' }),
    turn_started: () => this.#started.inc({ kind: 'driven' }),
    turn_finished: (_, { data: { status, because } }) => this.#finished.inc({ status, reason: because }),
    step_finished: async (ref, { turn_id, data: { usage } }) => {
      const { model = 'unknown' } = (await this.#stateOf(ref))?.turns.get(turn_id ?? '') ?? {}
      this.#tokens(model, 'worker', usage)
    },
    task_assessed: (_, { data: { verdict, model, usage = {} } }) => {
      this.#verdicts.inc({ verdict, model })
      this.#tokens(model, 'judge', usage)
    },
    title_set: (_, { data: { model, usage } }) => {
      if (model !== undefined && usage) this.#tokens(model, 'titler', usage)
    },
    claim_settled: (_, { data: { result, because } }) => this.#claims.inc({ result, because }),
    check_ran: (_, { data: { result, why } }) => this.#runs.inc({ result, why }),
    task_create_review_required: (_, { data: { toolset } }) => this.#opened.inc({ toolset }),
    task_create_review_resolved: async (ref, { data: { review_id, action, reason = 'none' }, timestamp }) => {
      this.#resolved.inc({ action, reason: REASONS.has(reason) ? reason : 'other' })
      const review = (await this.#stateOf(ref))?.reviews.get(review_id)
      if (review) this.#waited.observe({ action }, (Date.parse(timestamp) - Date.parse(review.asked_at)) / 1_000)
    },
  }

  /** Undefined if it cannot be read; then a figure is missing. */
  #stateOf(ref: Ref): Promise<Conversation | undefined> {
    return this.#door.read(ref).catch(() => undefined)
  }

  #call(labels: CallLabels, outcome: ObservedCall['outcome'], ms: number): void {
    this.#calls.inc({ ...labels, outcome })
    this.#callSeconds.observe(labels, ms / 1_000)
  }

  #tokens(model: string, role: 'worker' | 'judge' | 'titler', usage: Usage): void {
    for (const direction of ['input', 'output'] as const) {
      const count = usage[`${direction}_tokens`]
      if (typeof count === 'number' && count > 0) this.#spent.inc({ model, role, direction }, count)
    }
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] })
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

type CallLabels = Pick<ObservedCall, 'toolset' | 'tool' | 'edge'>

function labelsOf(tool: string, edge: Edge | undefined): CallLabels {
  if (!edge) return { toolset: 'outside', tool: 'outside', edge: 'turn' }
  const toolset = TOOLSET_OF.get(tool)
  return toolset === undefined ? { toolset: 'unknown', tool: 'unknown', edge } : { toolset, tool, edge }
}
