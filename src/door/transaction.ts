import type { Command } from '../domain/command.ts'
import { type Conversation, fold, stamped } from '../domain/conversation.ts'
import { decide } from '../domain/decide/index.ts'
import { Refusal } from '../domain/errors.ts'
import type { NewEvent, StoredEvent } from '../domain/event.ts'
import type { Instant } from '../domain/instant.ts'

/** Several commands that become one commit: each is decided on what the ones before it leave. */
export class Transaction {
  readonly now: Instant
  readonly events: NewEvent[] = []
  #state: Conversation

  constructor(state: Conversation, now: Instant) {
    this.#state = state
    this.now = now
  }

  get state(): Conversation {
    return this.#state
  }

  /** Decides a command; a refusal leaves the transaction as it was. */
  run(command: Command): readonly StoredEvent[] | Refusal {
    const decided = decide(this.#state, command, this.now)
    if (decided instanceof Refusal) return decided
    const stored = stamped(this.#state, decided, this.now)
    this.#state = fold(this.#state, stored)
    this.events.push(...decided)
    return stored
  }

  /** The same, where a refusal is the end of the whole transaction. */
  mustRun(command: Command): readonly StoredEvent[] {
    const decided = this.run(command)
    if (decided instanceof Refusal) throw decided
    return decided
  }
}
