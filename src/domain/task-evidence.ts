import type { EventType, StoredEvent, ToolCallRecord } from './event.ts'
import { boundedFact, leftOut, mostTelling, type Shown } from './evidence.ts'
import type { ClaimView, EvidenceAnswer, EvidenceView, VerdictView } from './wire.ts'

/** A task's own events. */
export const TASK_EVIDENCE_TYPES = [
  'task_assessed',
  'claim_made',
  'claim_settled',
  'evidence_added',
] as const satisfies readonly EventType[]

/** Those that have the calls of our own turns, whichever task was current. */
export const RUN_CALL_TYPES = ['step_finished', 'tool_answered'] as const satisfies readonly EventType[]

/** The id of a call of our own turns, by the seq of its answer. */
export const runCallId = (seq: number): string => `call_${seq}`

const MAX_LISTED = 100
const MAX_CALLS: Shown = { usual: 50, max: 100 }

/**
 * What a task's own events, and the calls of our own turns, say of it. A call belongs to the task that was current when the
 * model was asked, and to every task that a verdict on it cites it for.
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
    const { verdict, reason, model, cited = [], rests, fenced, seal } = event.data
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

/** Calls of outside tools with their answers; those of the plan's own tools prove nothing. */
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
