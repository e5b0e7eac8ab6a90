import { checkIn, workspaceKey } from '../domain/needs.ts'
import { awaitsBaseline as hasBaselineToTake } from '../domain/proof.ts'
import type { ToolContext } from './context.ts'

/** How long runs may wait for a process with their workspace before it counts as gone. */
export const UNSERVED_MS = 10_000

/**
 * Waits until the checks of a plan have run as things are before the work. Not for ever: if no process with the workspace
 * is alive, the plan is answered without.
 */
export async function awaitBaseline(context: ToolContext, turnId: string, signal?: AbortSignal): Promise<void> {
  const { door, tenant, conversation } = context
  const ref = { tenant, conversation }
  const leave = new AbortController()
  const ends = signal ? AbortSignal.any([signal, leave.signal]) : leave.signal
  const look = async (): Promise<void> => {
    const { turns } = await door.read(ref)
    const workspace = turns.get(turnId)?.workspace
    if (!workspace || !(await door.turns.served(checkIn(workspaceKey(workspace))))) leave.abort()
  }
  const timer = setInterval(() => void look(), UNSERVED_MS)
  timer.unref()
  try {
    for (;;) {
      const state = await door.read(ref)
      if (!hasBaselineToTake(state, turnId) || leave.signal.aborted) return
      await nextCommit(context, state.seq, ends).catch((error: unknown) => {
        if (!leave.signal.aborted) throw error
      })
    }
  } finally {
    clearInterval(timer)
  }
}

/** Resolves when the log has grown beyond `seq`. */
export async function nextCommit(
  { door, tenant, conversation }: ToolContext,
  seq: number,
  signal: AbortSignal,
): Promise<void> {
  for await (const _ of door.tail({ tenant, conversation }, { after: seq, signal })) return
  signal.throwIfAborted()
}
