import type { Command } from '../domain/command.ts'
import { type Conversation, fold, stamped } from '../domain/conversation.ts'
import { decide } from '../domain/decide/index.ts'
import { attributed } from '../domain/decision.ts'
import { Refusal } from '../domain/refusal.ts'
import type { NewEvent, StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import type { Origin } from '../domain/origin.ts'
import type { Decided } from '../store/store.ts'

/** Several commands as one commit: each is decided on the state that the ones before it leave. */
export class Transaction {
  readonly now: Instant
  readonly events: NewEvent[] = []
  #state: Conversation
  /** Decided but not folded in yet: the state in between is often not needed. */
  #ahead: readonly StoredEvent[] = []

  #discarded = false
  readonly #origin: Origin | undefined

  /** `origin` is recorded with each decision. */
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

  /** Decides a command; a refusal leaves the transaction as it was. */
  run(command: Command): readonly StoredEvent[] | Refusal {
    const { state } = this
    const decided = decide(state, command, this.now)
    return decided instanceof Refusal ? decided : this.take(decided)
  }

  /** Takes what was decided on its state as it is now. */
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

  /** Ends the transaction without writing anything: `return transaction.discard(value)` still answers the value. */
  discard<T>(value: T): T {
    this.#discarded = true
    return value
  }

  /** The transaction as a decision for the store. */
  decided<T>(value: T): Decided<T> {
    return this.#discarded ? { value, discard: true } : { value, events: this.events, after: this.state }
  }
}
