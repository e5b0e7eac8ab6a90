import type { Json } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import { awaitCall, beginCall, failureAnswer } from './calls.ts'
import { awaitClaims } from './claims.ts'
import { currentToolContext, type ToolContext } from './context.ts'
import type { Toolset } from './toolset.ts'

export const NO_CONTEXT = 'Error: Task list is not available (no conversation context).'

/** Begins a call and waits for its answer. Refusals and storage failures are answers, too. */
export async function callTool(
  toolset: Toolset,
  name: string,
  input: unknown,
  context: ToolContext | undefined = currentToolContext(),
  signal?: AbortSignal,
): Promise<Json> {
  if (!context) return NO_CONTEXT
  try {
    const call = await beginCall(toolset, name, input, context)
    if (call.status === 'answered') return call.result
    if (call.status === 'claimed') throw new Refusal('assessment_required', { claims: call.claims })
    if (call.status === 'checking') return (await awaitClaims(call, context, signal)).result
    return await awaitCall(call.call_id, context, signal)
  } catch (error) {
    return failureAnswer(toolset, error, context)
  }
}
