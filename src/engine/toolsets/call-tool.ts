import type { Json } from '../../core/model/event.ts'
import { failureAnswer } from './answer.ts'
import { awaitCall, beginCall } from './calls.ts'
import type { ToolContext } from './context.ts'
import type { Toolset } from './toolset.ts'
import { awaitClaims } from './waiting.ts'

export const NO_CONTEXT = 'Error: Task list is not available (no conversation context).'

export interface CallToolOptions {
  readonly signal?: AbortSignal | undefined
  /** Runs the wait for a review, and may end it through the signal. */
  readonly during?: (reviewId: string, wait: (ending: AbortSignal) => Promise<Json>) => Promise<Json>
}

/** Begins a call and waits for its answer. Refusals and storage failures are answers, too. */
export async function callTool(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext,
  { signal, during }: CallToolOptions = {},
): Promise<Json> {
  try {
    const call = await beginCall(toolset, name, input, context)
    if (call.status === 'answered') return call.result
    if (call.status === 'checking') return (await awaitClaims(call, context, signal)).result
    if (!during) return await awaitCall(call.call_id, context, signal)
    return await during(call.review_id, ending =>
      awaitCall(call.call_id, context, signal ? AbortSignal.any([signal, ending]) : ending),
    )
  } catch (error) {
    return failureAnswer(toolset, error, context)
  }
}
