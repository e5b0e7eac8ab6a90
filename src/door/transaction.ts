import type { Command } from '../domain/command.ts'
import { type Conversation, fold, stamped } from '../domain/conversation.ts'
import { decide } from '../domain/decide/index.ts'
import { attributed } from '../domain/decision.ts'
import { Refusal } from '../domain/refusal.ts'
import type { NewEvent, StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import type { Origin } from '../domain/origin.ts'
import type { Decided } from '../store/store.ts'

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
