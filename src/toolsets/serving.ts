import type { Conversation } from '../domain/conversation.ts'
import { needsOf } from '../domain/needs.ts'
import type { Commit } from '../door/door.ts'
import type { ToolContext } from './context.ts'

export interface ServedOptions {
  readonly signal?: AbortSignal | undefined
  /** A worker ends what no process serves: it is waited for. */
  readonly isEnded?: boolean
  /** Sees each commit that comes meanwhile. */
  readonly onCommit?: ((commit: Commit) => void) | undefined
}

/**
 * Waits until the runs of a turn are over, made by whichever process. Resolves with false if no process with their
 * workspace, or with the judge, is alive. While a person is waited for, none needs to be.
 */
export async function servedUntil(
  { door, tenant, conversation }: ToolContext,
  turnId: string,
  isOver: (state: Conversation) => boolean,
  { signal, isEnded = false, onCommit }: ServedOptions = {},
): Promise<boolean> {
  const ref = { tenant, conversation }
  const service = door.turns.watch(ref)
  try {
    const before = await door.read(ref)
    if (isOver(before)) return true
    service.needs(needsOf(before, turnId))
    const until = AbortSignal.any([...(signal ? [signal] : []), ...(isEnded ? [] : [service.gone])])
    for await (const commit of door.tail(ref, { after: before.seq, signal: until })) {
      onCommit?.(commit)
      const state = await door.read(ref)
      if (isOver(state)) return true
      service.needs(needsOf(state, turnId))
    }
    signal?.throwIfAborted()
    // A door that is closed says so.
    if (!service.gone.aborted) await door.read(ref)
    return false
  } finally {
    service.end()
  }
}
