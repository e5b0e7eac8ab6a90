import type { Command } from '../domain/command.ts'
import { type Conversation, fold, stamped } from '../domain/conversation.ts'
import { decide } from '../domain/decide/index.ts'
import { Refusal } from '../domain/refusal.ts'
import type { NewEvent, StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import type { Decided } from '../store/store.ts'

/** Several commands that become one commit: each is decided on what the ones before it leave. */
export class Transaction {
  readonly now: Instant
  readonly events: NewEvent[] = []
  #state: Conversation
  /** Decided and not folded in yet: most transactions are one command, and nobody asks for the state in between. */
  #ahead: readonly StoredEvent[] = []

  #discarded = false

  constructor(state: Conversation, now: Instant) {
    this.#state = state
    this.now = now
  }

  get state(): Conversation {
    if (this.#ahead.length > 0) this.#state = fold(this.#state, this.#ahead)
    this.#ahead = []
    return this.#state
  }

  /** Decides a command; a refusal leaves the transaction as it was. */
  run(command: Command): readonly StoredEvent[] | Refusal {
    const { state } = this
    const decided = decide(state, command, this.now)
    if (decided instanceof Refusal) return decided
    this.#ahead = stamped(state, decided, this.now)
    this.events.push(...decided)
    return this.#ahead
  }

  /** The same, where a refusal is the end of the whole transaction. */
  mustRun(command: Command): readonly StoredEvent[] {
    const decided = this.run(command)
    if (decided instanceof Refusal) throw decided
    return decided
  }

  /** Ends the transaction without writing anything: `return transaction.discard(value)` still answers the value. */
  discard<T>(value: T): T {
    this.#discarded = true
    return value
  }

  /** What the store is to do with this transaction. */
  decided<T>(value: T): Decided<T> {
    return this.#discarded ? { value, discard: true } : { value, events: this.events, after: this.state }
  }
}
