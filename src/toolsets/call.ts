import type { CommandOf, NewTask, Sources, TaskChange } from '../domain/command.ts'
import { findTask, isClaim } from '../domain/decide/tasks.ts'
import { Refusal } from '../domain/errors.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { SomeFields } from '../domain/fields.ts'
import { TOOLSETS } from '../domain/policy.ts'
import { ASKS, NEXT, type Task } from '../domain/task.ts'
import { isRunning } from '../domain/turn.ts'
import type { Transaction } from '../runsheet.ts'
import { type Claim, type Judged, verdictOn } from './claims.ts'
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
  readonly judged: readonly Judged[] | undefined
  readonly said: string | undefined
}

type Edit = Partial<CommandOf<'edit_tasks'>>

/** One tool call within its commit: what a tool may do, and what it sees. */
export class ToolCall implements View {
  readonly turnId: string
  /** What it would settle that the assessor has not been asked about. */
  readonly claims: Claim[] = []
  readonly #c: Circumstances

  constructor(circumstances: Circumstances) {
    this.turnId = circumstances.turnId
    this.#c = circumstances
  }

  get state(): View['state'] {
    return this.#c.transaction.state
  }

  /** Makes tasks, or puts them before a person where the policy asks for that. */
  create(drafts: readonly SomeFields[], also: Pick<Edit, 'remove'> = {}): Task[] | typeof PENDING | Refusal {
    const create = drafts.map((draft): NewTask => ({ ...draft, id: this.#c.newId() }))
    const review = { review_id: `rev_${this.#c.newId()}`, tool_call_id: this.#c.toolCallId }
    const events = this.edit({ create, ...also, review })
    if (events instanceof Refusal) return events
    if (events.some(event => event.type === 'task_create_review_required')) return PENDING
    for (const [place, { id }] of create.entries()) this.#claimNew(place, id, drafts[place] ?? {})
    return create.flatMap(({ id }) => this.state.tasks.get(id) ?? [])
  }

  edit(edit: Edit): readonly StoredEvent[] | Refusal {
    const { turnId, basis, sources, transaction } = this.#c
    const change: TaskChange[] = []
    for (const [row, one] of (edit.change ?? []).entries()) {
      const settled = this.#settled(this.#withOutcome(one), row)
      if (settled instanceof Refusal) return settled
      change.push(settled)
    }
    const changes = edit.change ? { ...edit, change } : edit
    return transaction.run({ ...sources, ...changes, type: 'edit_tasks', by: 'model', turn_id: turnId, basis })
  }

  /** Where the tools have no place for an outcome, what the model last said is it. */
  #withOutcome(change: TaskChange): TaskChange {
    const { status, outcome } = change.fields
    const { policy } = this.state
    const { said } = this.#c
    if (!said || outcome !== undefined || status === undefined || !ASKS[status].outcome) return change
    if (!policy || TOOLSETS[policy.toolset].outcome) return change
    return { ...change, fields: { ...change.fields, outcome: said } }
  }

  /**
   * A change as the rules can take it. What only the assessor may grant is a claim until it has: once it has, the task
   * is settled already, and the rest of the change is left.
   */
  #settled(change: TaskChange, row: number): TaskChange | Refusal {
    const { judged } = this.#c
    const task = findTask(this.state, change.task)
    if (!task) return change
    const opinion = judged && verdictOn(judged, task.id)
    if (opinion?.verdict === 'ok' && task.status === change.fields.status) {
      const { status: _status, outcome: _outcome, ...fields } = change.fields
      return { task: change.task, fields }
    }
    if (!isClaim(this.state, this.turnId, change)) return change
    if (opinion && opinion.verdict !== 'ok') return notAccepted(task, opinion.reason, row)
    const { status, outcome = task.outcome ?? '' } = change.fields
    if (!opinion && (status === 'completed' || status === 'cancelled')) {
      const { title, details, criteria } = task
      this.claims.push({ task: task.id, title, details, criteria, status, outcome })
    }
    return change
  }

  /** What is made as done was made pending; now it is claimed. */
  #claimNew(place: number, id: string, { status, outcome = '' }: SomeFields): void {
    const task = this.state.tasks.get(id)
    if (status !== 'completed' || !task || !NEXT[task.status].includes('completed')) return
    const turn = this.state.turns.get(this.turnId)
    if (!turn || !isRunning(turn)) return
    const { title, details, criteria } = task
    const claim: Claim = { task: place, title, details, criteria, status: 'completed', outcome }
    const opinions = this.#c.judged?.find(each => each.claim.task === place)?.opinions
    if (!opinions) this.claims.push(claim)
    else this.assess(id, { claim, opinions })
  }

  /** Writes down what the assessor said, and what that grants. */
  assess(task: string, { claim, opinions }: Judged): void {
    const { turnId, basis, transaction } = this.#c
    const { status, outcome } = claim
    for (const opinion of opinions) {
      const claimed = { status, ...(outcome === '' ? {} : { outcome }) }
      transaction.run({ type: 'assess_task', turn_id: turnId, task, ...opinion, claim: claimed, basis })
    }
  }
}

function notAccepted({ id, number }: Task, reason: string, row: number): Refusal {
  return new Refusal(
    'not_accepted',
    `Task ${number} was judged, and is not accepted: ${reason}`,
    { row },
    { id, number },
  )
}
