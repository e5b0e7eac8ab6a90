import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { CheckingCall } from '../toolsets/calls.ts'
import type { ToolContext } from '../toolsets/context.ts'
import { awaitClaims, claimIdOf } from '../toolsets/waiting.ts'
import { checkingResult, errorResult, toolResult } from './tool-result.ts'
import type { WaitLimits } from './wait-limits.ts'

export interface ClaimWaiterDeps {
  readonly limits: WaitLimits
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
}

/** Waits for a call's checks as long as the client can, and sends progress meanwhile. */
export async function waitForClaims(
  call: CheckingCall,
  context: ToolContext,
  ctx: ServerContext,
  { limits, closing, onError }: ClaimWaiterDeps,
): Promise<CallToolResult> {
  const { holdMs, progressIntervalMs } = limits
  const disconnected = ctx.http?.req?.signal
  const signal = AbortSignal.any([
    ctx.mcpReq.signal,
    closing,
    ...(disconnected ? [disconnected] : []),
    ...(holdMs === Infinity ? [] : [AbortSignal.timeout(holdMs)]),
  ])
  const progress = setInterval(sendProgress(ctx, onError), progressIntervalMs)
  try {
    const { result, ok } = await awaitClaims(call, context, signal)
    return ok ? toolResult(result) : errorResult(result)
  } catch (error) {
    if (!signal.aborted) throw error
    return checkingResult(claimIdOf(call), call.claim_ids.length > 0)
  } finally {
    clearInterval(progress)
  }
}

function sendProgress(ctx: ServerContext, onError: (error: unknown) => void): () => void {
  const progressToken = ctx.mcpReq._meta?.progressToken
  let progress = 0
  return () => {
    if (progressToken === undefined) return
    progress += 1
    const params = { progressToken, progress, message: 'Running the checks of this task' }
    ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(onError)
  }
}
