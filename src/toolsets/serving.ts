import type { Conversation } from '../domain/conversation.ts'
import { needsOf } from '../domain/needs.ts'
import type { ToolContext } from './context.ts'

/** How long runs may wait for a process with their workspace before it counts as gone. */
const UNSERVED_MS = 8_000
const LOOK_MS = 1_000

/**
 * Waits until the runs of a turn are over, made by whichever process. Resolves with false if no process with their
 * workspace, or with the judge, is alive. While a person is waited for, none needs to be.
 */
export async function servedUntil(
  { door, tenant, conversation }: ToolContext,
  turnId: string,
  isOver: (state: Conversation) => boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  const ref = { tenant, conversation }
  let served = performance.now()
  for (;;) {
    const state = await door.read(ref)
    if (isOver(state)) return true
    const need = needsOf(state, turnId)
    if (need === null || (await door.turns.served(need))) served = performance.now()
    else if (performance.now() - served >= UNSERVED_MS) return false
    const look = AbortSignal.timeout(LOOK_MS)
    // Resolves with the next commit.
    for await (const _ of door.tail(ref, { after: state.seq, signal: signal ? AbortSignal.any([signal, look]) : look }))
      break
    signal?.throwIfAborted()
  }
}
