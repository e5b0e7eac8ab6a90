import { type Judged, judgedOn, objectionTo } from '../domain/claim.ts'
import type { CommandOf, NewTask, SeenWorkspace, Sources, TaskChange } from '../domain/command.ts'
import type { StoredEvent } from '../domain/event.ts'
import { findTask } from '../domain/decide/tasks.ts'
import { TOOLSETS } from '../domain/policy.ts'
import type { ResolvedClaim } from '../domain/open-claims.ts'
import { Refusal } from '../domain/refusal.ts'
import { REQUIRES, type Task } from '../domain/task.ts'
import type { CallChecks, Transaction } from '../door/door.ts'
import type { Tool, Toolset } from './toolset.ts'
import { recordVerdicts } from './verdicts.ts'
import type { View } from './view.ts'

/** Returned by a tool whose call waits for a review. */
export const PENDING: unique symbol = Symbol('pending review')

export interface ToolCallDeps {
  readonly transaction: Transaction
  readonly toolset: Toolset
  readonly tool: Tool
  readonly turnId: string
  readonly toolCallId: string
  /** The seq that the call is based on. */
  readonly basis: number
  readonly newId: () => string
  readonly sources: Sources
  /** In a run: the assessor's verdicts on the claims of this call. */
  readonly judged: readonly Judged[]
  /** A call that is made again: its claims, and how their checks ended. */
  readonly resolved?: readonly ResolvedClaim[] | undefined
  /** The workspace of the plan that it would end. */
  readonly seen?: SeenWorkspace | undefined
  /** Agents elsewhere: whether a judge of ours rules on their claims. It may read a file. */
  readonly judges: () => boolean
  /** Where the turn has a workspace. */
  readonly checks?: CallChecks | undefined
  /** In a run: the model's latest text, the outcome if its tools have no field for one. */
  readonly lastText: string | undefined
}

/** A new task that the model called done, and why it is not. */
export type TurnedDown = { readonly id: string; readonly reason: string }

type Edit = Partial<CommandOf<'edit_tasks'>>

/** One tool call inside its transaction: what the tool sees and may do. */
export class ToolCall implements View {
  readonly turnId: string
  readonly #deps: ToolCallDeps
  /** The verdicts on new tasks: they are recorded once their tasks have ids. */
  readonly #unrecorded: Set<Judged>
  readonly #turnedDown: TurnedDown[] = []
  #isUnchecked = false
  #hasJudge: boolean | undefined

  /** Records red checks and the verdicts on listed tasks before the tool runs, so that they stay if the tool refuses. */
  constructor(deps: ToolCallDeps) {
    this.turnId = deps.turnId
    this.#deps = deps
    const { transaction, judged, resolved } = deps
    if (resolved) transaction.mustRun({ type: 'refuse_claims', turn_id: deps.turnId, claims: resolved })
    this.#unrecorded = new Set(judged.filter(({ claim }) => typeof claim.task === 'number'))
    for (const one of judged)
      if (typeof one.claim.task === 'string') recordVerdicts(transaction, one.claim.task, one, deps)
  }

  get reads(): boolean {
    return this.#deps.tool.reads === true
  }

  /** Whether a judge rules on what is claimed. */
  get isJudged(): boolean {
    return this.#deps.resolved !== undefined || this.#judges()
  }

  get state(): View['state'] {
    return this.#deps.transaction.state
  }

  /**
   * Creates tasks, or opens a review if the policy asks for one. `sent` maps each draft to its index in the model's
   * input, if the tool dropped some elements.
   */
  create(
    drafts: readonly Omit<NewTask, 'id'>[],
    { sent, ...also }: Pick<Edit, 'remove'> & { readonly sent?: readonly number[] } = {},
  ): readonly Task[] | typeof PENDING {
    const { newId, toolCallId, toolset, tool } = this.#deps
    const create = drafts.map((draft): NewTask => ({ ...draft, id: newId() }))
    const asked = { tool_call_id: toolCallId, toolset: toolset.name, tool: tool.name }
    const review = {
      review_id: `rev_${newId()}`,
      ...asked,
      commands: this.#deps.checks?.commands,
      unchecked: this.#isUnchecked,
    }
    const events = this.tryEdit({ create, ...also, review })
    if (events instanceof Refusal) throw events.row === undefined ? events : events.at(sent?.[events.row] ?? events.row)
    if (events.some(event => event.type === 'task_create_review_required')) return PENDING
    for (const [index, draft] of create.entries()) this.#settleNew(draft, index)
    return create.flatMap(({ id }) => this.state.tasks.get(id) ?? [])
  }

  /** Whether checks of the model were left out. */
  get isUnchecked(): boolean {
    return this.#isUnchecked
  }

  /** The tasks that this call created as done and the assessor turned down, or that have still to be checked or judged. */
  get turnedDown(): readonly TurnedDown[] {
    return this.#turnedDown
  }

  /** Records the verdicts on tasks that were not created after all. */
  end(): void {
    for (const judged of this.#unrecorded)
      recordVerdicts(this.#deps.transaction, this.#deps.newId(), judged, this.#deps)
  }

  /** Changes and removes tasks. Throws the refusal, if any. */
  edit(edit: Edit): readonly StoredEvent[] {
    const events = this.tryEdit(edit)
    if (events instanceof Refusal) throw events
    return events
  }

  tryEdit(edit: Edit): readonly StoredEvent[] | Refusal {
    const { turnId, basis, sources, transaction, judged, resolved, seen } = this.#deps
    const change = edit.change ? { change: edit.change.map(one => this.#withOutcome(one)) } : {}
    return transaction.run({
      ...sources,
      ...edit,
      ...change,
      type: 'edit_tasks',
      by: 'model',
      turn_id: turnId,
      basis,
      judged,
      resolved,
      seen,
      judges: mayClaim(edit) && this.#judges(),
    })
  }

  /** A model's command line as the checks of a new task. Without a workspace there are none, and the answer says so. */
  checked(line: string | undefined, row?: number): Pick<NewTask, 'checks' | 'allowed'> {
    const { checks } = this.#deps
    if (line === undefined || line.trim() === '') return {}
    if (!checks) {
      this.#isUnchecked = true
      return {}
    }
    const made = checks.fromLine(line)
    if (made instanceof Refusal) throw made.at(row)
    const { check, isAllowed } = made
    return { checks: [check], ...(isAllowed ? { allowed: [check.hash] } : {}) }
  }

  /** Looked up once: a judge that leaves meanwhile must not turn a claim into a grant. */
  #judges(): boolean {
    return (this.#hasJudge ??= this.#deps.judges())
  }

  /** Uses the model's latest text as the outcome of what it settles if its tools have no field for one. */
  #withOutcome(change: TaskChange): TaskChange {
    const { status, outcome } = change.fields
    const { lastText, toolset } = this.#deps
    if (!lastText || outcome !== undefined || status === undefined || !REQUIRES[status].outcome) return change
    if (TOOLSETS[toolset.name].outcome || findTask(this.state, change.task)?.status === status) return change
    return { ...change, fields: { ...change.fields, outcome: lastText } }
  }

  /** Applies the verdicts on a new task that the model called done; it was created pending. */
  #settleNew({ id, status }: NewTask, index: number): void {
    const judged = judgedOn(this.#deps.judged, index)
    if (!judged) {
      const isUnjudged = status === 'completed' && this.state.tasks.get(id)?.status !== status
      if (isUnjudged) this.#turnedDown.push({ id, reason: this.#judges() ? UNJUDGED : UNCHECKED })
      return
    }
    this.#unrecorded.delete(judged)
    recordVerdicts(this.#deps.transaction, id, judged, { ...this.#deps, grants: true })
    const objection = objectionTo(judged)
    if (objection) this.#turnedDown.push({ id, reason: objection.reason })
  }
}

/** Whether an edit may settle a task. */
const mayClaim = ({ create = [], change = [] }: Edit): boolean =>
  create.some(({ status = 'pending' }) => REQUIRES[status].judge) ||
  change.some(({ fields: { status, outcome } }) => (status ? REQUIRES[status].judge : outcome !== undefined))

const UNCHECKED = 'Its check runs once you complete it with a call of its own.'
const UNJUDGED = 'The assessor rules on it once you settle it with a call of its own.'
