import type { CommandOf, NewTask, Sources } from '../domain/command.ts'
import { Refusal } from '../domain/errors.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { SomeFields } from '../domain/fields.ts'
import type { Task } from '../domain/task.ts'
import type { Transaction } from '../runsheet.ts'
import type { View } from './view.ts'

/** The answer of a tool that waits for a person. */
export const PENDING: unique symbol = Symbol('pending review')

interface Circumstances {
  readonly transaction: Transaction
  readonly turnId: string
  readonly toolCallId: string
  readonly basis: number
  readonly newId: () => string
  readonly sources: Sources
}

/** One tool call within its commit: what a tool may do, and what it sees. */
export class ToolCall implements View {
  readonly turnId: string
  readonly #c: Circumstances

  constructor(circumstances: Circumstances) {
    this.turnId = circumstances.turnId
    this.#c = circumstances
  }

  get state(): View['state'] {
    return this.#c.transaction.state
  }

  /** Makes tasks, or puts them before a person where the policy asks for that. */
  create(
    drafts: readonly SomeFields[],
    also: Pick<CommandOf<'edit_tasks'>, 'remove'> = {},
  ): Task[] | typeof PENDING | Refusal {
    const create = drafts.map((draft): NewTask => ({ ...draft, id: this.#c.newId() }))
    const review = { review_id: `rev_${this.#c.newId()}`, tool_call_id: this.#c.toolCallId }
    const events = this.edit({ create, ...also, review })
    if (events instanceof Refusal) return events
    if (events.some(event => event.type === 'task_create_review_required')) return PENDING
    return events.flatMap(event => (event.type === 'task_created' ? [event.data.task] : []))
  }

  edit(edit: Partial<CommandOf<'edit_tasks'>>): readonly StoredEvent[] | Refusal {
    const { turnId, basis, sources, transaction } = this.#c
    return transaction.run({ ...sources, ...edit, type: 'edit_tasks', by: 'model', turn_id: turnId, basis })
  }
}
