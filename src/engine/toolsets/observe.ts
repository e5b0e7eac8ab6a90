import type { Logger } from 'pino'
import { defined } from '../../core/model/defined.ts'
import type { Committed, Edge, ObservedCall, Observer } from '../door/door.ts'
import type { ToolContext } from './view.ts'

export const logCalls =
  (logger: Pick<Logger, 'debug'>): Observer =>
  call =>
    logger.debug(call, 'tool call')

/** The MCP servers' tool that waits for a review. It belongs to no toolset but is counted like its tools. */
export const AWAIT_REVIEW = 'await_review'

export interface Caller extends Pick<ToolContext, 'door' | 'conversation' | 'edge' | 'provider' | 'model' | 'run'> {
  readonly turn?: string | undefined
}

/** What is said of a call, besides what its caller knows. `started` is its start by `performance.now()`. */
export interface Observation extends Pick<ObservedCall, 'toolset' | 'tool' | 'items' | 'outcome' | 'stored'> {
  readonly callId: string | undefined
  readonly started: number
}

export function observe(caller: Caller, { started, ...call }: Observation): void {
  report(caller, { ...call, duration_ms: elapsed(started), edge: edgeOf(caller) })
}

export function observeAnswers(caller: Caller, { events, conversation }: Committed<unknown>): void {
  const toolset = conversation.policy?.toolset ?? 'unknown'
  for (const { type, turn_id, data } of events) {
    if (type !== 'tool_answered') continue
    const { tool_call_id: callId, tool, items = 0, duration_ms, ok, edge = edgeOf(caller) } = data
    const call = { callId, toolset, tool, items, duration_ms, edge, stored: true } as const
    report({ ...caller, turn: turn_id ?? undefined }, { ...call, outcome: ok ? 'ok' : 'refused' })
  }
}

function report(
  { door, conversation, turn, provider, model }: Caller,
  { callId, ...call }: Omit<Observation, 'started'> & Pick<ObservedCall, 'duration_ms' | 'edge'>,
): void {
  door.observed({
    ...call,
    session_id: conversation,
    ...defined({ turn_id: turn, tool_call_id: callId, provider, model }),
  })
}

export const edgeOf = ({ edge, run }: Pick<ToolContext, 'edge' | 'run'>): Edge => edge ?? (run ? 'turn' : 'library')

export const elapsed = (started: number): number => Math.round(performance.now() - started)

export function countItems(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0
  return Object.values(input).reduce(
    (max: number, value: unknown) => (Array.isArray(value) ? Math.max(max, value.length) : max),
    0,
  )
}
