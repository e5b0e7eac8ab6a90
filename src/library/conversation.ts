import {
  addEvidence,
  addTask,
  assertRunnable,
  changeTask,
  decideApproval,
  evidenceOf,
  insist,
  removeTask,
  taskAnswer,
  undoChange,
  type Commit,
  type Decision,
  type Door,
  type Ref,
  type ReportedCall,
  type TailOptions,
} from '../engine/door/door.ts'
import type { CommandOf } from '../core/model/command.ts'
import { listed } from '../core/model/conversation.ts'
import { findTask, openIn } from '../core/decide/tasks.ts'
import type { Json, Resolution } from '../core/model/event.ts'
import type { Policy, PolicyPatch } from '../core/model/policy.ts'
import { taskOnWire } from '../core/proof/standing.ts'
import { redactor } from '../core/text/redact.ts'
import { Refusal } from '../core/model/refusal.ts'
import type { ReviewRequest } from '../core/model/review.ts'
import { snapshotOf, type ConversationSnapshot } from '../core/model/snapshot.ts'
import type { ToolApproval } from '../core/model/tool-approval.ts'
import type { EvidenceAdded, EvidenceAnswer, PersonsFields, SentApproval, TaskView } from '../core/views/wire.ts'
import type { Workspaces } from '../engine/worker/workspaces.ts'
import { reviewAnswer } from '../engine/toolsets/answer.ts'
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
  /** The decision and the person's changes. */
  readonly resolution: Resolution
  /** The result of the tool call that proposed the plan. */
  readonly result: Json
}

/** Options of `Conversation.startTurn`. */
export interface StartOptions {
  /** The user's message. */
  readonly message: string
  /** The name of one of the runner's models. */
  readonly model: string
  /** Policy fields to set before the turn starts. */
  readonly policy?: PolicyPatch
  /** A finished turn whose open tasks this one takes over. */
  readonly continueTurn?: string
}

/** One conversation: its plan, reviews and log. */
export class Conversation {
  /** The id passed to `Runsheet.conversation`. */
  readonly id: string
  readonly #deps: ConversationDeps

  /** @internal */
  constructor(id: string, deps: ConversationDeps) {
    this.id = id
    this.#deps = deps
  }

  /** A turn: one user message and the agent's work on it. It opens with its first tool call. */
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

  /** The state as plain, serialisable data. */
  async snapshot(): Promise<ConversationSnapshot> {
    return snapshotOf(await this.#read())
  }

  /** The listed tasks in order, with the states of their checks. */
  async tasks(): Promise<readonly TaskView[]> {
    const state = await this.#read('list')
    return listed(state).map(task => taskOnWire(state, task))
  }

  /** Adds a task on a person's behalf, to the running or latest turn. */
  async addTask(fields: Omit<TaskEdit, 'approve'> & { readonly title: string }): Promise<TaskView> {
    return (await addTask(this.#deps.door, this.#deps.ref, fields)).task
  }

  /** Changes a task, by id or number, on a person's behalf. Fails if `version` is stale. */
  async changeTask(task: string | number, fields: TaskEdit, { version }: { version?: number } = {}): Promise<TaskView> {
    return (await changeTask(this.#deps.door, this.#deps.ref, task, fields, version)).task
  }

  /** Removes a task, by id or number, on a person's behalf, and returns its last state. Its history stays. */
  async removeTask(task: string | number, { version }: { version?: number } = {}): Promise<TaskView> {
    return (await removeTask(this.#deps.door, this.#deps.ref, task, version)).task
  }

  /**
   * Has a disputed task, by id or number, done as it is asked, on a person's behalf. `changeTask` gives the other
   * answers: it changes what the task asks for, or settles it.
   */
  async insist(task: string | number, { comment }: { comment?: string } = {}): Promise<TaskView> {
    return (await insist(this.#deps.door, this.#deps.ref, task, comment)).task
  }

  /**
   * Undoes the change by a person that produced this version of a task, and returns the task, even if it is removed.
   * Undoing the returned version is a redo. Fails if the same fields have changed since.
   */
  async undoChange(taskId: string, version: number): Promise<TaskView> {
    return (await undoChange(this.#deps.door, this.#deps.ref, taskId, version)).task
  }

  /** Requests a run of an approved check on a person's behalf. The result arrives as an event. */
  async runCheck(task: string | number, checkId: string): Promise<TaskView> {
    const { door, ref } = this.#deps
    assertRunnable(await door.read(ref), door, { task, check_id: checkId })
    return this.#onTask({ type: 'request_check', task, check_id: checkId })
  }

  /** Stops a check if it is running. */
  stopCheck(task: string | number, checkId: string): Promise<TaskView> {
    return this.#onTask({ type: 'stop_check', task, check_id: checkId })
  }

  /** Ticks a check of kind `person`, on a person's behalf. */
  tickCheck(task: string | number, checkId: string): Promise<TaskView> {
    return this.#onTask({ type: 'tick_check', task, check_id: checkId })
  }

  /** Accepts changes outside the scope on a person's behalf, by the paths in `changes` of the task's checks. */
  acceptChanges(task: string | number, paths: readonly string[]): Promise<TaskView> {
    return this.#onTask({ type: 'accept_changes', task, paths })
  }

  /**
   * Reports a call of one of the agent's own tools for the task in progress. People and the judge see it as evidence;
   * it proves nothing by itself. Nothing is stored while no task is in progress.
   */
  addEvidence(call: ReportedCall): Promise<EvidenceAdded> {
    return addEvidence(this.#deps.door, this.#deps.ref, call, { source: 'agent', redact: REDACT })
  }

  /** The verdicts, claims and most relevant tool calls of a task, by id or number. */
  async evidence(task: string | number): Promise<EvidenceAnswer> {
    const { door, ref } = this.#deps
    const state = await this.#read()
    const id = typeof task === 'string' ? task : findTask(state, task)?.id
    const found = id === undefined ? undefined : await evidenceOf(door, ref, id)
    if (!found) throw new Refusal('task_not_found', { ref: task, ...openIn(state) })
    return found
  }

  /** The pending reviews. */
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

  /** Confirms a plan with the person's rows, or cancels it. Idempotent for the same decision. */
  async decide(reviewId: string, decision: Decision): Promise<DecidedReview> {
    const { door, ref } = this.#deps
    await this.#checkReview(reviewId)
    return door.reviews.decide(ref.tenant, reviewId, decision, 'library', (state, record): DecidedReview => {
      const { review, resolution } = record
      if (!resolution) throw new TypeError('a decided review has no resolution')
      return { review, resolution, result: reviewAnswer(state, record) }
    })
  }

  /** Extends a review's deadline on a person's behalf to `ms` from now, by default to its original duration. */
  async extendReview(reviewId: string, { ms }: { ms?: number } = {}): Promise<ReviewRequest> {
    await this.#checkReview(reviewId)
    return this.#deps.door.reviews.extend(this.#deps.ref.tenant, reviewId, ms)
  }

  /** Tool calls that wait for a person's approval, oldest first. */
  async approvals(): Promise<readonly ToolApproval[]> {
    return (await this.#read()).approvals
  }

  /** Allows or denies a pending call on a person's behalf. Repeating the same decision changes nothing. */
  async decideApproval(approvalId: string, decision: SentApproval): Promise<void> {
    const { door, ref } = this.#deps
    await decideApproval(door, ref, approvalId, decision, 'library')
  }

  /** Sets the given fields of the policy, between turns. */
  async setPolicy(policy: PolicyPatch): Promise<Policy> {
    const { door, ref, policy: host } = this.#deps
    const { conversation } = await door.run(ref, { type: 'set_policy', by: 'person', policy, host })
    if (!conversation.policy) throw new TypeError('the policy was not set')
    return conversation.policy
  }

  /** The log after seq `after`, commit by commit, then live until the signal aborts. */
  events(options: TailOptions = {}): AsyncIterable<Commit> {
    return this.#deps.door.tail(this.#deps.ref, options)
  }

  async #onTask(
    command: CommandOf<'request_check' | 'stop_check' | 'tick_check' | 'accept_changes'>,
  ): Promise<TaskView> {
    const { door, ref } = this.#deps
    return taskAnswer((await door.run(ref, command)).conversation, command.task).task
  }

  /** Rejects if the review belongs to another conversation. */
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

const REDACT = redactor()
