import type { Command } from '../domain/command.ts'
import { type Conversation, fold, stamped } from '../domain/conversation.ts'
import { decide } from '../domain/decide/index.ts'
import { Refusal } from '../domain/refusal.ts'
import type { NewEvent, StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'
import type { Decided } from '../store/store.ts'

/** Several commands as one commit. Each is decided on the state after the previous ones. */
export class Transaction {
  readonly now: Instant
  readonly events: NewEvent[] = []
  #state: Conversation
  /** Not folded until `state` is read: most transactions run one command and never read it. */
  #unfolded: readonly StoredEvent[] = []
  #discarded = false

  constructor(state: Conversation, now: Instant) {
    this.#state = state
    this.now = now
  }

  get state(): Conversation {
    if (this.#unfolded.length > 0) this.#state = fold(this.#state, this.#unfolded)
    this.#unfolded = []
    return this.#state
  }

  /** Decides a command; a refusal leaves the transaction as it was. */
  run(command: Command): readonly StoredEvent[] | Refusal {
    const { state } = this
    const decided = decide(state, command, this.now)
    if (decided instanceof Refusal) return decided
    this.#unfolded = stamped(state, decided, this.now)
    this.events.push(...decided)
    return this.#unfolded
  }

  /** Like `run`, but throws the refusal, which rolls the transaction back. */
  mustRun(command: Command): readonly StoredEvent[] {
    const decided = this.run(command)
    if (decided instanceof Refusal) throw decided
    return decided
  }

  /** Drops all events but still returns the value: `return transaction.discard(value)`. */
  discard<T>(value: T): T {
    this.#discarded = true
    return value
  }

  /** The outcome for the store. */
  decided<T>(value: T): Decided<T> {
    return this.#discarded ? { value, discard: true } : { value, events: this.events, after: this.state }
  }
}
