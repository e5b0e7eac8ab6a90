import type { EventType, Json, StoredEvent, ToolCallRecord } from '../model/event.ts'
import { excerpt, plainText } from '../text/plain-text.ts'
import type { ClaimView, EvidenceAnswer, EvidenceView, VerdictView } from '../views/wire.ts'

/** The source of evidence: a call in a turn of ours, a report by the agent's host, or one by the agent. */
export type EvidenceSource = 'run' | 'host' | 'agent'

/** A tool call with its answer. */
export interface ToolFact {
  /** The name of the tool. */
  readonly tool: string
  /** The arguments, shortened if they are long. */
  readonly arguments: Json
  /** The answer, shortened if it is long. */
  readonly answer: Json
  /** True if the call succeeded. */
  readonly ok: boolean
}

/** The maximum of reports from others in one turn. */
export const MAX_REPORTS = 1_000
/** Bytes of arguments and answer together, as JSON. */
const MAX_BYTES = 8_000
/** Bytes of the answer; the arguments get the rest. */
const MAX_ANSWER_BYTES = 6_000

/** Limits a call to 8 kB: a long answer, then long arguments, keep head and tail and say how much is left out. */
export function boundedFact<T extends ToolFact>(fact: T): T {
  const answer = bounded(fact.answer, MAX_ANSWER_BYTES)
  return { ...fact, arguments: bounded(fact.arguments, MAX_BYTES - bytesOf(answer)), answer }
}

/** Converts every text to what a terminal would show, field names included. */
export function plainJson(value: Json): Json {
  if (typeof value === 'string') return plainText(value.toWellFormed())
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plainJson)
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [plainText(name.toWellFormed()), plainJson(each)]),
  )
}

/** Converts a value that is too long into one text, because one text is redacted much faster than its many parts. */
export function asTextIfLong(value: Json): Json {
  const text = JSON.stringify(value)
  return typeof value === 'string' || text.length <= MAX_BYTES ? value : text
}

/** The number of calls to show: the usual one, and the maximum that the last call of each tool may need. */
export interface Shown {
  readonly usual: number
  readonly max: number
}

/**
 * The most telling calls, in log order. The last failure and the last call of each tool stay, up to `max`; up to
 * `usual` come the other failures, then the other calls, newest first.
 */
export function mostTelling<T extends Pick<ToolFact, 'tool' | 'ok'>>(calls: readonly T[], { usual, max }: Shown): T[] {
  const newestFirst = calls.toReversed()
  const failures = newestFirst.filter(({ ok }) => !ok)
  const lasting = new Set([...lastOfEachTool(failures), ...lastOfEachTool(newestFirst)])
  const ranked = new Set([...lasting, ...failures, ...newestFirst])
  const kept = new Set([...ranked].slice(0, Math.min(max, Math.max(usual, lasting.size))))
  return calls.filter(each => kept.has(each))
}

const lastOfEachTool = <T extends Pick<ToolFact, 'tool'>>(newestFirst: readonly T[]): T[] =>
  [...Map.groupBy(newestFirst, ({ tool }) => tool).values()].flatMap(calls => calls.slice(0, 1))

/** Counts of a tool's calls that are not shown. */
export interface LeftOut {
  readonly tool: string
  readonly calls: number
  readonly failed: number
}

export function leftOut<T extends Pick<ToolFact, 'tool' | 'ok'>>(calls: readonly T[], kept: readonly T[]): LeftOut[] {
  const rest = calls.filter(each => !kept.includes(each))
  return [...Map.groupBy(rest, ({ tool }) => tool)].map(([tool, group]) => ({
    tool,
    calls: group.length,
    failed: group.filter(({ ok }) => !ok).length,
  }))
}

function bounded(value: Json, limit: number): Json {
  if (bytesOf(value) <= limit) return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  for (let room = limit; ; ) {
    const short = excerpt(text, room)
    const bytes = bytesOf(short)
    if (bytes <= limit) return short
    room = Math.min(room - 1, Math.floor((room * limit) / bytes))
  }
}

const bytesOf = (value: Json): number => new TextEncoder().encode(JSON.stringify(value)).length

export const TASK_EVIDENCE_TYPES = [
  'task_assessed',
  'claim_made',
  'claim_settled',
  'evidence_added',
] as const satisfies readonly EventType[]

/** The calls of our own turns, whichever task was current. */
export const RUN_CALL_TYPES = ['step_finished', 'tool_answered'] as const satisfies readonly EventType[]

/** The id of a call of our own turns, by the seq of its answer. */
export const runCallId = (seq: number): string => `call_${seq}`

const MAX_LISTED = 100
const MAX_CALLS: Shown = { usual: 50, max: 100 }

/**
 * The evidence on a task from its own events and the calls of our own turns. A call belongs to the task that was
 * current at the model call, and to every task whose verdict cites it.
 */
export function taskEvidence(
  own: readonly StoredEvent[],
  calls: readonly StoredEvent[],
  taskId: string,
): Omit<EvidenceAnswer, 'seq'> {
  const verdicts = verdictsIn(own)
  const cited = new Set(verdicts.flatMap(each => each.cited))
  const found = [...reportsIn(own), ...runCalls(calls, taskId, cited)].sort((a, b) => a.seq - b.seq)
  const shown = new Set([...mostTelling(found, MAX_CALLS), ...found.filter(({ id }) => cited.has(id))])
  const kept = found.filter(each => shown.has(each))
  return {
    task_id: taskId,
    verdicts: verdicts.slice(-MAX_LISTED),
    claims: claimsIn(own).slice(-MAX_LISTED),
    evidence: kept.map(boundedFact),
    left_out: leftOut(found, kept),
  }
}

/** A verdict belongs to the newest claim before it with the same text. */
function verdictsIn(own: readonly StoredEvent[]): VerdictView[] {
  const claims = new Map<string, string>()
  return own.flatMap(event => {
    if (event.type === 'claim_made') claims.set(event.data.seal, event.data.claim_id)
    if (event.type !== 'task_assessed') return []
    const { verdict, reason, model, cited = [], rests, fenced, hidden, seal } = event.data
    const claim_id = claims.get(seal)
    return {
      at: event.timestamp,
      verdict,
      reason,
      model,
      cited,
      ...(rests === 'uncited' ? { uncited: true as const } : {}),
      ...(rests === 'words' ? { on_words_alone: true as const } : {}),
      ...(fenced ? { fenced } : {}),
      ...(hidden ? { hidden } : {}),
      ...(claim_id === undefined ? {} : { claim_id }),
    }
  })
}

function claimsIn(own: readonly StoredEvent[]): ClaimView[] {
  const ends = new Map(
    own.flatMap(event => {
      if (event.type !== 'claim_settled') return []
      const { claim_id, result, because } = event.data
      return [[claim_id, { result, because }] as const]
    }),
  )
  return own.flatMap(event => {
    if (event.type !== 'claim_made') return []
    const { claim_id, status, outcome } = event.data
    return {
      claim_id,
      at: event.timestamp,
      status,
      ...(outcome === '' ? {} : { outcome }),
      ...ends.get(claim_id),
    }
  })
}

const reportsIn = (own: readonly StoredEvent[]): EvidenceView[] =>
  own.flatMap(event => {
    if (event.type !== 'evidence_added') return []
    const { evidence_id: id, task_id: _task, ...call } = event.data
    return { id, at: event.timestamp, ...call, seq: event.seq }
  })

/** Calls of the plan's own tools are left out: they prove nothing. */
function runCalls(events: readonly StoredEvent[], taskId: string, cited: ReadonlySet<string>): EvidenceView[] {
  const made = new Map<string, ToolCallRecord & { readonly task: string | undefined }>()
  return events.flatMap(event => {
    const keyOf = (callId: string): string => JSON.stringify([event.turn_id, callId])
    if (event.type === 'step_finished') {
      const { tool_calls, task_id: task } = event.data
      for (const call of tool_calls) {
        // A call with a problem was not made: its name and arguments are only words.
        if (call.problem === undefined) made.set(keyOf(call.tool_call_id), { ...call, task })
      }
    }
    if (event.type !== 'tool_answered' || event.data.edge !== undefined) return []
    const { tool_call_id, result: answer, ok } = event.data
    const call = made.get(keyOf(tool_call_id))
    const id = runCallId(event.seq)
    if (!call || !(call.task === taskId || cited.has(id))) return []
    const { tool, arguments: args } = call
    return { id, at: event.timestamp, source: 'run' as const, tool, arguments: args, answer, ok, seq: event.seq }
  })
}
