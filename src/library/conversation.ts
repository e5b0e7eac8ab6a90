import {
  addEvidence,
  type Commit,
  type Decision,
  assertRunnable,
  decideApproval,
  type Door,
  evidenceOf,
  preparedChanges,
  preparedTask,
  undoChange,
  type Ref,
  type ReportedCall,
  type TailOptions,
} from '../door/door.ts'
import type { CommandOf } from '../domain/command.ts'
import { type Conversation as State, listed } from '../domain/conversation.ts'
import { findTask, openIn } from '../domain/decide/tasks.ts'
import type { Json, StoredEvent } from '../domain/event.ts'
import type { Policy, PolicyPatch } from '../domain/policy.ts'
import { taskOnWire } from '../domain/proof-view.ts'
import { redactor } from '../domain/redact.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Resolution } from '../domain/event.ts'
import type { ReviewRequest } from '../domain/review.ts'
import { type ConversationSnapshot, snapshotOf } from '../domain/snapshot.ts'
import type { Task } from '../domain/task.ts'
import type { ToolApproval } from '../domain/tool-approval.ts'
import type { EvidenceAdded, EvidenceAnswer, PersonsFields, SentApproval, TaskView } from '../domain/wire.ts'
import type { Workspaces } from '../runner/workspaces.ts'
import { reviewAnswer } from '../toolsets/answer.ts'
import type { Reviewer } from './reviewer.ts'
import { Turn, type TurnOptions } from './turn.ts'

/** @internal */
export interface ConversationDeps {
  readonly door: Door
  readonly ref: Ref
  readonly policy: PolicyPatch
  readonly reviewer: Reviewer
  readonly workspaces: Workspaces | undefined
}

/** The fields of a task that a person can set. */
export type TaskEdit = PersonsFields

/** A decided review. */
export interface DecidedReview {
  /** The proposed plan. */
  readonly review: ReviewRequest
  /** What was decided, and what the person changed. */
  readonly resolution: Resolution
  /** What the tool call that asked is answered. */
  readonly result: Json
}

/** What a turn that a runner drives starts with. */
export interface StartOptions {
  /** What is to be done. */
  readonly message: string
  /** One of the runner's models, by name. */
  readonly model: string
  /** Set for the conversation before the turn starts. */
  readonly policy?: PolicyPatch
  /** A finished turn whose open tasks this one takes over. */
  readonly continueTurn?: string
}

/** One conversation: its plan, its reviews, its log. */
export class Conversation {
  /** The id that `Runsheet.conversation` was given. */
  readonly id: string
  readonly #deps: ConversationDeps

  /** @internal */
  constructor(id: string, deps: ConversationDeps) {
    this.id = id
    this.#deps = deps
  }

  /** A turn: one user message and everything the agent does for it. It opens with its first tool call. */
  turn(id: string, options: TurnOptions = {}): Turn {
    return new Turn(id, options, this.#deps)
  }

  /** Starts a turn that a `Runner` (`runsheet/runner`) drives. */
  async startTurn(id: string, { message, model, policy, continueTurn }: StartOptions): Promise<Turn> {
    const { door, ref, policy: host } = this.#deps
    const { workspace, done: done_checks } = door.checks.offered?.() ?? {}
    await door.run(ref, {
      type: 'start_turn',
      workspace,
      done_checks,
      turn_id: id,
      message_id: door.newId(),
      message,
      model,
      host,
      ...(policy ? { policy } : {}),
      continue_turn_id: continueTurn,
    })
    return this.turn(id)
  }

  /** The state as plain data: `JSON.stringify` keeps all of it. */
  async snapshot(): Promise<ConversationSnapshot> {
    return snapshotOf(await this.#read())
  }

  /** The listed tasks, in order, with how their checks stand. */
  async tasks(): Promise<readonly TaskView[]> {
    const state = await this.#read('list')
    return listed(state).map(task => taskOnWire(state, task))
  }

  /** Adds a task on a person's behalf. It joins the running or latest turn. */
  async addTask(fields: Omit<TaskEdit, 'approve'> & { readonly title: string }): Promise<TaskView> {
    const { door, ref } = this.#deps
    const id = door.newId()
    const { value } = await door.transact(ref, transaction => {
      const create = [preparedTask(transaction.state, door, id, fields)]
      const events = transaction.mustRun({ type: 'edit_tasks', by: 'person', create })
      return taskOnWire(transaction.state, taskIn(events, id))
    })
    return value
  }

  /** Changes a task, by id or number, on a person's behalf. With `version` it fails if the task was changed since. */
  async changeTask(task: string | number, fields: TaskEdit, { version }: { version?: number } = {}): Promise<TaskView> {
    const { door, ref } = this.#deps
    const { conversation } = await door.transact(ref, transaction => {
      const change = preparedChanges(transaction.state, door, task, fields, version)
      transaction.mustRun({ type: 'edit_tasks', by: 'person', change })
    })
    return viewOf(conversation, task)
  }

  /** Removes a task, by id or number, on a person's behalf, and returns it as it is then. Its history stays. */
  async removeTask(task: string | number, { version }: { version?: number } = {}): Promise<TaskView> {
    const { door, ref } = this.#deps
    const { value } = await door.transact(ref, transaction => {
      const before = transaction.state
      const remove = [{ task, if_version: version }]
      const events = transaction.mustRun({ type: 'edit_tasks', by: 'person', remove })
      const [removed] = events.flatMap(({ type, data }) => (type === 'task_removed' ? [data.task] : []))
      if (!removed) throw new TypeError('the task was not removed')
      return taskOnWire(before, removed)
    })
    return value
  }

  /**
   * Takes back a person's change to a task: the one that led to this version of it. The answer is the task as it is then, a
   * removed one, too; undoing its version is a redo. Fails if what was changed has changed again since.
   */
  async undoChange(taskId: string, version: number): Promise<TaskView> {
    return (await undoChange(this.#deps.door, this.#deps.ref, taskId, version)).task
  }

  /** Asks for a run of an approved check of a task, on a person's behalf. Its result comes with the events. */
  async runCheck(task: string | number, checkId: string): Promise<TaskView> {
    const { door, ref } = this.#deps
    assertRunnable(await door.read(ref), door, { task, check_id: checkId })
    return this.#onTask({ type: 'request_check', task, check_id: checkId })
  }

  /** Stops the run of a check, if one is under way. */
  stopCheck(task: string | number, checkId: string): Promise<TaskView> {
    return this.#onTask({ type: 'stop_check', task, check_id: checkId })
  }

  /** Ticks a check of the kind `person`, on a person's behalf. */
  tickCheck(task: string | number, checkId: string): Promise<TaskView> {
    return this.#onTask({ type: 'tick_check', task, check_id: checkId })
  }

  /** Accepts changes to guarded files, on a person's behalf: all that the checks of the task name in `guarded`. */
  acceptGuards(task: string | number, paths: readonly string[]): Promise<TaskView> {
    return this.#onTask({ type: 'accept_guards', task, paths })
  }

  /**
   * Reports a call of one of the agent's own tools, for the task in progress: for people and for the judge. It proves
   * nothing. While no task is in progress, nothing is stored.
   */
  addEvidence(call: ReportedCall): Promise<EvidenceAdded> {
    return addEvidence(this.#deps.door, this.#deps.ref, call, { source: 'agent', redact: REDACT })
  }

  /** The verdicts on a task, by id or number, what was claimed, and the tool calls that tell most. */
  async evidence(task: string | number): Promise<EvidenceAnswer> {
    const { door, ref } = this.#deps
    const state = await this.#read()
    const id = typeof task === 'string' ? task : findTask(state, task)?.id
    const found = id === undefined ? undefined : await evidenceOf(door, ref, id)
    if (!found) throw new Refusal('task_not_found', { ref: task, ...openIn(state) })
    return found
  }

  /** The reviews that wait for a decision. */
  async reviews(): Promise<readonly ReviewRequest[]> {
    const { door, ref } = this.#deps
    const reviews: ReviewRequest[] = []
    let cursor: string | undefined
    do {
      const page = await door.reviews.waiting(ref.tenant, ref.conversation, { limit: PAGE, cursor })
      reviews.push(...page.items)
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    return reviews
  }

  /** Confirms a plan with the person's rows, or cancels it. The same decision again returns the same. */
  async decide(reviewId: string, decision: Decision): Promise<DecidedReview> {
    const { door, ref } = this.#deps
    await this.#checkReview(reviewId)
    return door.reviews.decide(ref.tenant, reviewId, decision, 'library', (state, record): DecidedReview => {
      const { review, resolution } = record
      if (!resolution) throw new TypeError('a decided review has no resolution')
      return { review, resolution, result: reviewAnswer(state, record) }
    })
  }

  /** Gives a review with a deadline more time, on a person's behalf: from now `ms`, by default as long as it had at first. */
  async extendReview(reviewId: string, { ms }: { ms?: number } = {}): Promise<ReviewRequest> {
    await this.#checkReview(reviewId)
    return this.#deps.door.reviews.extend(this.#deps.ref.tenant, reviewId, ms)
  }

  /** The calls of tools that wait for a person, oldest first. */
  async approvals(): Promise<readonly ToolApproval[]> {
    return (await this.#read()).approvals
  }

  /** Allows a call that waits, or does not, on a person's behalf. The same decision again changes nothing. */
  async decideApproval(approvalId: string, decision: SentApproval): Promise<void> {
    const { door, ref } = this.#deps
    await decideApproval(door, ref, approvalId, decision, 'library')
  }

  /** Sets the named fields of the policy, between turns. */
  async setPolicy(policy: PolicyPatch): Promise<Policy> {
    const { door, ref, policy: host } = this.#deps
    const { conversation } = await door.run(ref, { type: 'set_policy', by: 'person', policy, host })
    if (!conversation.policy) throw new TypeError('the policy was not set')
    return conversation.policy
  }

  /** The log after seq `after`, commit by commit, then live, until the signal. */
  events(options: TailOptions = {}): AsyncIterable<Commit> {
    return this.#deps.door.tail(this.#deps.ref, options)
  }

  async #onTask(
    command: CommandOf<'request_check' | 'stop_check' | 'tick_check' | 'accept_guards'>,
  ): Promise<TaskView> {
    const { door, ref } = this.#deps
    return viewOf((await door.run(ref, command)).conversation, command.task)
  }

  /** Rejects for a review of another conversation. */
  async #checkReview(reviewId: string): Promise<void> {
    const { door, ref } = this.#deps
    const { conversation } = await door.reviews.locate(ref.tenant, reviewId)
    if (conversation !== ref.conversation) throw new Refusal('review_not_found', { review_id: reviewId })
  }

  #read(need?: 'list') {
    return this.#deps.door.read(this.#deps.ref, need)
  }
}

const PAGE = 200

/** Knows secrets by their shapes. */
const REDACT = redactor()

function viewOf(state: State, task: string | number): TaskView {
  const byId = typeof task === 'string' ? state.tasks.get(task) : undefined
  const found = byId ?? listed(state).find(({ number }) => number === task)
  if (!found) throw new TypeError('the changed task is not listed')
  return taskOnWire(state, found)
}

function taskIn(events: readonly StoredEvent[], id: string): Task {
  for (const event of events) if (event.type === 'task_created' && event.data.task.id === id) return event.data.task
  throw new TypeError('the new task is not in its own commit')
}
