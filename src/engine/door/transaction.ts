import { hash } from 'node:crypto'
import type { Command } from '../../core/model/command.ts'
import { fold, stamped, type Conversation } from '../../core/model/conversation.ts'
import { decide } from '../../core/decide/index.ts'
import { attributed } from '../../core/model/decision.ts'
import type { NewEvent, StoredEvent } from '../../core/model/event.ts'
import type { Instant } from '../../core/model/instant.ts'
import type { Origin } from '../../core/model/origin.ts'
import { FATE_TYPES, fateOf } from '../../core/model/queue.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { Door } from './door.ts'
import type { Committed, Decided, Ref } from '../../store/store.ts'

/** Several commands as one commit: each is decided on the state after the ones before it. */
export class Transaction {
  readonly now: Instant
  readonly events: NewEvent[] = []
  #state: Conversation
  /** Decided but not yet folded into the state: the intermediate state is often not needed. */
  #ahead: readonly StoredEvent[] = []

  #discarded = false
  readonly #origin: Origin | undefined

  constructor(state: Conversation, now: Instant, origin?: Origin) {
    this.#state = state
    this.now = now
    this.#origin = origin
  }

  get state(): Conversation {
    if (this.#ahead.length > 0) this.#state = fold(this.#state, this.#ahead)
    this.#ahead = []
    return this.#state
  }

  run(command: Command): readonly StoredEvent[] | Refusal {
    const { state } = this
    const decided = decide(state, command, this.now)
    return decided instanceof Refusal ? decided : this.take(decided)
  }

  take(decided: readonly NewEvent[]): readonly StoredEvent[] {
    const events = this.#origin ? attributed(decided, this.#origin) : decided
    this.#ahead = stamped(this.state, events, this.now)
    this.events.push(...events)
    return this.#ahead
  }

  /** Like `run`, but throws a refusal, which ends the transaction. */
  mustRun(command: Command): readonly StoredEvent[] {
    const decided = this.run(command)
    if (decided instanceof Refusal) throw decided
    return decided
  }

  /** Ends the transaction without writing anything: `return transaction.discard(value)` still returns the value. */
  discard<T>(value: T): T {
    this.#discarded = true
    return value
  }

  decided<T>(value: T): Decided<T> {
    return this.#discarded ? { value, discard: true } : { value, events: this.events, after: this.state }
  }
}

/** Hashes JSON content, independent of key order. */
export const hashOf = (body: unknown): string => hash('sha256', JSON.stringify(sorted(body)) ?? 'null', 'base64url')

export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, entry]) => [key, sorted(entry)]))
}

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
