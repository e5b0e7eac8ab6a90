import { Counter, Histogram, type Registry } from 'prom-client'
import type { EventType, Resolution, StoredEvent, Usage } from '../../core/model/event.ts'
import { dispatch, type Handlers } from '../../core/model/projection.ts'
import { CANCELLING, CANCELLING_ACTIONS, OUTCOMES } from '../../core/model/review-action.ts'
import { type Door, type Edge, type ObservedCall, type Ref, refKey } from '../../engine/door/door.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import { AWAIT_REVIEW } from '../../engine/toolsets/observe.ts'

/** Wide range: calls that wait for a person take as long as the person. */
const CALL_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 30, 300, 3_600]
const REVIEW_SECONDS = [1, 5, 15, 60, 300, 1_800, 7_200, 86_400]
/** Starts at 1 s, because reading a plan takes seconds. */
const DECISION_SECONDS = [1, 2, 5, 10, 30, 60, 300, 1_800, 7_200]
const ITEMS = [0, 1, 2, 5, 10, 20]
/** Distinct model names used as labels; later ones become `other`. */
const MAX_MODELS = 50

/** A call answered by another process, without its content. */
export type ReportedCall = Pick<ObservedCall, 'toolset' | 'tool' | 'outcome' | 'items' | 'duration_ms'>

/** Reasons are free text: only known ones become labels. */
const REASONS: ReadonlySet<string> = new Set(['none', ...Object.keys(OUTCOMES)])

const TOOLSET_OF: ReadonlyMap<string, string> = new Map(
  Object.values(toolsets).flatMap(({ name, tools }) => tools.map(tool => [tool.name, name])),
)

/**
 * Metrics of calls, turns, claims, checks, verdicts, reviews and tokens. Derived from committed events, so that every
 * edge and process counts alike and replays do not count; only calls that left no event are counted when observed.
 */
export class PlanMetrics {
  readonly #door: Door
  readonly #model = bounded(MAX_MODELS)
  readonly #openedAt = new Map<string, string>()
  readonly #shownAt = new Map<string, string>()
  readonly #models = new Map<string, string>()
  readonly #metrics

  constructor(registry: Registry, door: Door) {
    this.#door = door
    const registers = [registry]
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
      new Counter({ name, help, labelNames: [...labelNames], registers })
    const histogram = <L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[],
      buckets: number[],
    ): Histogram<L> => new Histogram({ name, help, labelNames: [...labelNames], buckets, registers })
    const tool = ['toolset', 'tool', 'edge'] as const
    this.#metrics = {
      calls: counter('runsheet_tool_calls_total', 'Answered tool calls.', [...tool, 'outcome']),
      items: histogram('runsheet_tool_call_items', 'The length of the list in a call.', tool, ITEMS),
      seconds: histogram(
        'runsheet_tool_call_duration_seconds',
        'From a call to its answer, waiting for a person included.',
        tool,
        CALL_SECONDS,
      ),
      started: counter('runsheet_turns_started_total', 'Turns of ours (driven) and of agents elsewhere (outside).', [
        'kind',
      ]),
      finished: counter('runsheet_turns_finished_total', 'Turns that ended.', ['status', 'reason']),
      verdicts: counter('runsheet_verdicts_total', 'Verdicts on claims.', ['verdict', 'model']),
      claims: counter('runsheet_claims_total', 'Claims that were granted or refused.', ['result', 'because']),
      runs: counter('runsheet_check_runs_total', 'Runs of checks.', ['result', 'why']),
      opened: counter('runsheet_reviews_opened_total', 'Reviews that were opened.', ['toolset']),
      resolved: counter('runsheet_reviews_resolved_total', 'Reviews that ended.', ['action', 'reason']),
      waited: histogram('runsheet_review_wait_seconds', 'From a review to its end.', ['action'], REVIEW_SECONDS),
      looked: histogram(
        'runsheet_review_decision_seconds',
        "From a review's first panel to a person's decision.",
        ['action', 'edited'],
        DECISION_SECONDS,
      ),
      confirmed: counter('runsheet_reviews_confirmed_total', 'Confirmed reviews, with edits or without.', ['edited']),
      rows: counter('runsheet_review_rows_total', 'Rows of confirmed reviews, by what the person did to them.', [
        'change',
      ]),
      tokens: counter('runsheet_tokens_total', 'Tokens as providers report them.', ['model', 'role', 'direction']),
    }
  }

  called({ toolset, tool, edge, outcome, items, duration_ms, stored }: ObservedCall): void {
    if (!stored) this.#call({ toolset, tool, edge }, outcome, items, duration_ms)
  }

  /** Counts a call of `runsheet mcp`, which has no metrics of its own. */
  reported({ toolset, tool, outcome, items, duration_ms }: ReportedCall): void {
    const isKnown = TOOLSET_OF.get(tool) === toolset || tool === AWAIT_REVIEW
    this.#call({ toolset, tool: isKnown ? tool : 'unknown', edge: 'mcp' }, outcome, items, duration_ms)
  }

  committed(ref: Ref, events: readonly StoredEvent[]): void {
    for (const event of events) dispatch(this.#on, ref, event, undefined)
  }

  readonly #on: Handlers<Ref, void> = {
    tool_answered: (_, { data: { tool, edge, ok, items = 0, duration_ms } }) => {
      this.#call(labelsOf(tool, edge), ok ? 'ok' : 'refused', items, duration_ms)
    },
    turn_opened: () => this.#metrics.started.inc({ kind: 'outside' }),
    turn_started: (ref, { data: { turn_id, model } }) => {
      this.#models.set(keyOf(ref, turn_id), model)
      this.#metrics.started.inc({ kind: 'driven' })
    },
    turn_finished: (ref, { data: { turn_id, status, because } }) => {
      this.#models.delete(keyOf(ref, turn_id))
      this.#metrics.finished.inc({ status, reason: because })
    },
    step_finished: (ref, { turn_id, data: { usage } }) => {
      const model = this.#models.get(keyOf(ref, turn_id ?? ''))
      if (model !== undefined) return this.#tokens(model, 'worker', usage)
      void this.#earlier(ref, 'turn_started', ({ data }) => data.turn_id === turn_id).then(started =>
        this.#tokens(started?.data.model ?? 'unknown', 'worker', usage),
      )
    },
    task_assessed: (_, { data: { verdict, model, usage = {} } }) => {
      this.#metrics.verdicts.inc({ verdict, model: this.#model(model) })
      this.#tokens(model, 'judge', usage)
    },
    title_set: (_, { data: { model, usage } }) => {
      if (model !== undefined && usage) this.#tokens(model, 'titler', usage)
    },
    claim_settled: (_, { data: { result, because } }) => this.#metrics.claims.inc({ result, because }),
    check_ran: (_, { data: { result, why } }) => this.#metrics.runs.inc({ result, why }),
    task_create_review_required: (ref, { data: { review_id, toolset }, timestamp }) => {
      this.#openedAt.set(keyOf(ref, review_id), timestamp)
      this.#metrics.opened.inc({ toolset })
    },
    review_panel_opened: (ref, { data: { review_id }, timestamp }) => {
      const key = keyOf(ref, review_id)
      if (!this.#shownAt.has(key)) this.#shownAt.set(key, timestamp)
    },
    task_create_review_resolved: (ref, { data, timestamp }) => {
      const { review_id, action, reason = 'none', via, held_ms = 0 } = data
      const key = keyOf(ref, review_id)
      const isIt = (event: { readonly data: { readonly review_id: string } }): boolean =>
        event.data.review_id === review_id
      this.#metrics.resolved.inc({ action, reason: REASONS.has(reason) ? reason : 'other' })
      void this.#seconds(ref, this.#openedAt.get(key), timestamp, 'task_create_review_required', isIt).then(
        seconds => seconds === undefined || this.#metrics.waited.observe({ action }, seconds),
      )
      if (via !== 'system') {
        const labels = {
          action: CANCELLING_ACTIONS.find(each => CANCELLING[each].reason === reason) ?? action,
          edited: isEdited(data),
        }
        void this.#seconds(ref, this.#shownAt.get(key), timestamp, 'review_panel_opened', isIt).then(
          // Subtract the undo period: a person decides when they click.
          seconds =>
            seconds === undefined || this.#metrics.looked.observe(labels, Math.max(0, seconds - held_ms / 1_000)),
        )
      }
      this.#openedAt.delete(key)
      this.#shownAt.delete(key)
      if (action === 'confirm') this.#confirmed(data)
    },
  }

  #confirmed(resolution: Resolution): void {
    const { kept = [], edited = [], added = [], removed = [] } = resolution.changes ?? {}
    this.#metrics.confirmed.inc({ edited: isEdited(resolution) })
    for (const [change, rows] of Object.entries({ kept, edited, added, removed })) {
      if (rows.length > 0) this.#metrics.rows.inc({ change }, rows.length)
    }
  }

  /**
   * Measures from an event to `until`. `since` is the event's time if this process saw it; otherwise the log is
   * searched.
   */
  async #seconds<T extends EventType>(
    ref: Ref,
    since: string | undefined,
    until: string,
    type: T,
    fits: (event: StoredEvent<T>) => boolean,
  ): Promise<number | undefined> {
    const from = since ?? (await this.#earlier(ref, type, fits))?.timestamp
    return from === undefined ? undefined : (Date.parse(until) - Date.parse(from)) / 1_000
  }

  /** Searches the log for an event older than this process; undefined if the log cannot be read. */
  async #earlier<T extends EventType>(
    ref: Ref,
    type: T,
    fits: (event: StoredEvent<T>) => boolean,
  ): Promise<StoredEvent<T> | undefined> {
    const events = await this.#door.conversations.events(ref, { types: [type] }).catch(() => [])
    return (events as readonly StoredEvent<T>[]).find(fits)
  }

  #call(
    labels: Pick<ObservedCall, 'toolset' | 'tool' | 'edge'>,
    outcome: ObservedCall['outcome'],
    items: number,
    ms: number,
  ): void {
    this.#metrics.calls.inc({ ...labels, outcome })
    this.#metrics.items.observe(labels, items)
    this.#metrics.seconds.observe(labels, ms / 1_000)
  }

  #tokens(model: string, role: 'worker' | 'judge' | 'titler', usage: Usage): void {
    for (const direction of ['input', 'output'] as const) {
      const count = usage[`${direction}_tokens`]
      if (typeof count === 'number' && count > 0) {
        this.#metrics.tokens.inc({ model: this.#model(model), role, direction }, count)
      }
    }
  }
}

function labelsOf(tool: string, edge: Edge | undefined): Pick<ObservedCall, 'toolset' | 'tool' | 'edge'> {
  if (!edge) return { toolset: 'outside', tool: 'outside', edge: 'turn' }
  const toolset = TOOLSET_OF.get(tool)
  return toolset === undefined ? { toolset: 'unknown', tool: 'unknown', edge } : { toolset, tool, edge }
}

function isEdited({ changes }: Resolution): 'yes' | 'no' {
  if (!changes) return 'no'
  const { edited, added, removed, reordered } = changes
  return reordered || edited.length + added.length + removed.length > 0 ? 'yes' : 'no'
}

const keyOf = (ref: Ref, id: string): string => `${refKey(ref)}/${id}`

/** Keeps the first `max` distinct values to limit label cardinality. */
function bounded(max: number): (value: string) => string {
  const known = new Set<string>()
  return value => {
    if (known.size < max) known.add(value)
    return known.has(value) ? value : 'other'
  }
}
