import { FATE_TYPES, fateOf } from '../domain/queue.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Committed, Ref } from '../store/store.ts'
import type { Door } from './door.ts'
import type { Transaction } from './transaction.ts'

/**
 * Runs a change on a queued message as one commit. If the message no longer waits, the refusal says what became of it.
 */
export async function onQueued<T>(
  door: Door,
  ref: Ref,
  messageId: string,
  work: (transaction: Transaction) => T,
): Promise<Committed<T>> {
  try {
    return await door.transact(ref, work)
  } catch (error) {
    if (!(error instanceof Refusal) || !error.is('message_not_found')) throw error
    // A message's fate is final, so reading it after the refusal cannot race.
    const fate = fateOf(await door.conversations.events(ref, { types: FATE_TYPES }), messageId)
    throw fate ? new Refusal(`message_${fate}`, { message_id: messageId }) : error
  }
}
