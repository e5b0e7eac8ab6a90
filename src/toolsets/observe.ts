import type { Logger } from 'pino'
import type { Edge, ObservedCall, Observer } from '../door/door.ts'
import type { ToolContext } from './context.ts'

/** An observer that logs each call at debug level. */
export const logCalls =
  (logger: Pick<Logger, 'debug'>): Observer =>
  call =>
    logger.debug(call, 'tool call')

/** The tool of every MCP server that waits for a review. It belongs to no toolset, and is counted like one of its tools. */
export const AWAIT_REVIEW = 'await_review'

/** Where a call was made. */
export interface Caller extends Pick<ToolContext, 'door' | 'conversation' | 'edge' | 'provider' | 'model' | 'run'> {
  readonly turn?: string | undefined
}

export interface Observation extends Pick<ObservedCall, 'toolset' | 'tool' | 'items' | 'outcome' | 'stored'> {
  readonly callId: string | undefined
  /** When it began, by `performance.now()`. */
  readonly started: number
}

/** Reports an answered call to the observers. */
export function observe(caller: Caller, { callId, started, ...call }: Observation): void {
  const { door, conversation, turn, provider, model } = caller
  door.observed({
    ...call,
    duration_ms: elapsed(started),
    edge: edgeOf(caller),
    session_id: conversation,
    ...(turn === undefined ? {} : { turn_id: turn }),
    ...(callId === undefined ? {} : { tool_call_id: callId }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
  })
}

export const edgeOf = ({ edge, run }: Pick<ToolContext, 'edge' | 'run'>): Edge => edge ?? (run ? 'turn' : 'library')

export const elapsed = (started: number): number => Math.round(performance.now() - started)

/** The length of the longest list in an input. */
export function countItems(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0
  return Object.values(input).reduce(
    (max: number, value: unknown) => (Array.isArray(value) ? Math.max(max, value.length) : max),
    0,
  )
}
