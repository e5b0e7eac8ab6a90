import { awaitsBaseline as hasBaselineToTake } from '../domain/check-runs.ts'
import type { ToolContext } from './context.ts'
import { servedUntil } from './serving.ts'

/**
 * Waits until the checks of a plan have run as things are before the work. Not for ever: if no process with the workspace
 * is alive, the plan is answered without.
 */
export async function awaitBaseline(context: ToolContext, turnId: string, signal?: AbortSignal): Promise<void> {
  await servedUntil(context, turnId, state => !hasBaselineToTake(state, turnId), { signal })
}
