import type { Verdict } from './event.ts'
import type { ToolsetName } from './policy.ts'
import type { QueuedMessage } from './queue.ts'
import type { ReviewStatus } from './review.ts'
import type { FileChange } from '../proof/file-change.ts'
import { say } from '../views/say.ts'
import type { ApprovalDecision } from './tool-approval.ts'
import type { Task, TaskStatus } from './task.ts'
import type { TurnStatus } from './turn.ts'

/** Enough of a task to name it in any vocabulary. */
export type TaskName = Pick<Task, 'id' | 'number' | 'title' | 'file_id'>

/**
 * The rule that a value breaks. The other fields depend on it: `limit` and `got` for a length, `allowed` for a choice.
 */
export interface FieldProblem {
  readonly rule:
    | 'required'
    | 'empty'
    | 'too_long'
    | 'too_few'
    | 'too_many'
    | 'not_text'
    | 'malformed_unicode'
    | 'not_a_number'
    | 'not_an_integer'
    | 'not_a_boolean'
    | 'not_allowed'
    | 'not_an_array'
    | 'not_an_object'
    | 'unknown_key'
    | 'duplicate'
    | 'out_of_range'
    | 'too_large'
    | 'invalid'
  readonly limit?: number
  readonly min?: number
  readonly max?: number
  /** The value that was sent instead: a length, or the kind of value. */
  readonly got?: number | string
  readonly allowed?: readonly string[]
  /** The element, if the field is a list. */
  readonly index?: number
  /** For `invalid`: the expected value, to follow "must be". */
  readonly expected?: string
}

/** The element of a batch that is at fault, counted from 0. */
interface InRow {
  readonly row?: number
}

/** The first few open tasks, one of which was probably meant, and the number of others. */
interface OpenTasks {
  readonly open: readonly TaskName[]
  readonly more: number
}

/** The code of a refusal and the facts that explain it. The codes are part of the contract. */
export interface RefusalData {
  invalid_id: InRow & { readonly field: string; readonly rule: 'format' | 'taken' }
  invalid_field: InRow & FieldProblem & { readonly field: string }
  batch_empty: object
  batch_too_large: { readonly limit: number; readonly got: number }
  too_many_open: { readonly limit: number; readonly got: number }
  two_in_progress: InRow & { readonly field?: 'status' }
  task_not_found: InRow & OpenTasks & { readonly field?: string; readonly ref: string | number }
  task_settled: InRow & OpenTasks & { readonly task: Task; readonly status: TaskStatus }
  status_not_allowed: InRow & {
    readonly field: 'status'
    readonly task: Task
    readonly from: TaskStatus
    readonly to: TaskStatus
    readonly allowed: readonly TaskStatus[]
  }
  outcome_required: InRow & { readonly field: 'outcome'; readonly task: Task; readonly to: TaskStatus | 'disputed' }
  version_mismatch: InRow & { readonly task: Task; readonly expected: number }
  edited_by_person: InRow & { readonly task: Task; readonly changed: Readonly<Record<string, unknown>> }
  reviewed_tasks_are_fixed: InRow & { readonly action: 'reword' | 'delete' }
  not_accepted: InRow & { readonly task: Task; readonly verdict: Exclude<Verdict, 'ok'>; readonly reason: string }
  /** Too many claims on this task were turned down: further ones are refused until a person changes it. */
  claims_spent: InRow & { readonly task: Task; readonly by: 'checks' | 'assessor'; readonly times: number }
  /** It was disputed as often as an agent may: only a person moves it now. */
  disputes_spent: InRow & { readonly task: Task; readonly times: number }
  not_disputed: { readonly task: Task }
  /** Without a field: the call would have deleted the task. */
  settled_by_person: InRow & { readonly field?: string; readonly task: Task }
  rejected_task_stays: InRow & {
    readonly task: Task
    readonly action: 'reword' | 'delete' | 'cancel'
    /** The source of the rejection; `approval`: an approved check has not passed yet. */
    readonly by: 'checks' | 'assessor' | 'approval'
  }
  /** A check of the task failed. */
  check_failed: InRow & {
    readonly task: Task
    readonly check: string
    readonly exit?: number
    /** The reason, if it is not the exit code alone. */
    readonly reason?: string
    readonly tail?: string
    readonly reds: number
  }
  /** The claim would end the plan, but a check of the whole plan did not pass. Not counted against the task. */
  plan_check_failed: InRow & {
    readonly task: Task
    readonly check: string
    readonly exit?: number
    readonly reason?: string
    readonly tail?: string
    /** The check could not be run. */
    readonly isUnclear?: boolean
    /** The check passed, but these files changed outside the scopes of the plan, and no person has accepted that. */
    readonly changes?: readonly FileChange[]
  }
  /** A check of the task could not be run, or its run was ended. Not counted. */
  not_checked: InRow & { readonly task: Task; readonly check?: string; readonly reason: string }
  /** Another call has an open claim on the task. */
  claim_open: InRow & { readonly task: Task }
  check_not_found: { readonly task: Task; readonly check_id: string }
  check_not_runnable: {
    readonly task: Task
    readonly check: string
    readonly because: 'person' | 'unapproved' | 'no_workspace'
    /** The folder of the workspace, which no longer exists. */
    readonly folder?: string
  }
  assessor_required: { readonly toolset: ToolsetName | null }
  persons_only: {
    readonly action: 'set_policy' | 'create_tasks' | 'change_toolset' | 'change_checks' | 'hide_check' | 'use_route'
    readonly toolset?: ToolsetName
  }
  no_turn: object
  turn_not_found: { readonly turn_id: string }
  turn_running: { readonly turn_id: string }
  turn_conflict: { readonly turn_id: string }
  turn_finished: { readonly turn_id: string; readonly status: TurnStatus }
  /** There is no turn of ours that a message could join or continue. */
  no_own_turn: object
  too_many_queued: { readonly limit: number }
  message_not_found: { readonly message_id: string }
  /** The message was delivered: it can be neither edited nor withdrawn. */
  message_delivered: { readonly message_id: string }
  message_withdrawn: { readonly message_id: string }
  /** The message was edited since: it has another version now. */
  message_changed: { readonly queued: QueuedMessage; readonly expected: number }
  approval_not_found: { readonly approval_id: string }
  approval_already_decided: { readonly approval_id: string; readonly decision: ApprovalDecision }
  review_not_found: { readonly review_id: string }
  review_already_decided: { readonly review_id: string; readonly status: ReviewStatus }
  review_expired: { readonly review_id: string }
  review_not_reopenable: { readonly review_id: string; readonly status: ReviewStatus; readonly successor?: string }
  review_without_deadline: { readonly review_id: string }
  too_many_reviews: { readonly limit: number }
  /** An option or a variable of the server fixes the setting. */
  setting_locked: { readonly field: string; readonly by: string }
  /** The change cannot be undone. */
  not_undoable: {
    readonly because: 'unknown' | 'not_persons' | 'changed' | 'removed' | 'listed' | 'too_old'
    /** The task in its current state. */
    readonly task?: Task
    /** For `changed`: the fields that have changed since, and the author of that. */
    readonly fields?: readonly string[]
    readonly by?: 'person' | 'agent'
  }
}

/** The codes of refusals. */
export type RefusalCode = keyof RefusalData

/** A refusal as plain data. */
export type Refused<C extends RefusalCode = RefusalCode> = {
  readonly [K in C]: { readonly code: K; readonly data: RefusalData[K] }
}[C]

type Arguments = { [C in RefusalCode]: [code: C, data: RefusalData[C]] }[RefusalCode]

/** A command that the rules refuse. `decide` returns it; the door throws it. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly data: RefusalData[RefusalCode]

  constructor(...[code, data]: Arguments) {
    super(say({ code, data } as Refused))
    this.code = code
    this.data = data
  }

  is<C extends RefusalCode>(code: C): this is Refusal & Refused<C> {
    return this.code === code
  }

  /** The element of the batch that is at fault, counted from 0. */
  get row(): number | undefined {
    return 'row' in this.data ? this.data.row : undefined
  }

  /** The same refusal for another element, or for none. */
  at(row: number | undefined): Refusal {
    const { row: _row, ...data } = { row: undefined, ...this.data }
    return new Refusal(...([this.code, { ...data, ...inRow(row) }] as Arguments))
  }
}

export const invalidId = (field: string): Refusal => new Refusal('invalid_id', { field, rule: 'format' })

export const idIsTaken = (field: string, row?: number): Refusal =>
  new Refusal('invalid_id', { field, rule: 'taken', ...inRow(row) })

export const invalidField = (field: string, problem: FieldProblem, row?: number): Refusal =>
  new Refusal('invalid_field', { ...problem, field, ...inRow(row) })

export const inRow = (row: number | undefined): InRow => (row === undefined ? {} : { row })

export const nameOf = ({ id, number, title, file_id }: Task): TaskName => ({
  id,
  number,
  title,
  ...(file_id === undefined ? {} : { file_id }),
})
