import type { Check, CheckResult, TrackedFiles, Workspace } from './check.ts'
import type { VerdictBasis } from './claim.ts'
import type { EvidenceSource, ToolFact } from './evidence.ts'
import type { Instant } from './instant.ts'
import type { Origin } from './origin.ts'
import type { Policy } from './policy.ts'
import type { MadeClaim, RunReason } from './proof.ts'
import type { Standing } from './standing.ts'
import type { CancelReason, Changes, ConfirmedTask, ReviewRequest, RowChange, RowComment } from './review.ts'
import type { Actor, Task } from './task.ts'
import type { ApprovalDecision, ApprovalEnd, ToolApprovalRequest } from './tool-approval.ts'
import type { EndReason, PlanCounts, TurnStatus } from './turn.ts'

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
/** Token counts as the provider reports them. */
export type Usage = { readonly [key: string]: Json }
export type Verdict = 'ok' | 'not_ok' | 'unknown'
/** Why an answer is not whole: it exceeds what is read of one, the model's own limit, or the provider's filter. */
export type Cut = 'too_long' | 'output_limit' | 'content_filter'
/** The way in that a tool call took: a turn of ours, HTTP, MCP, or a program. */
export type Edge = 'turn' | 'http' | 'mcp' | 'library'
export type DecisionVia = 'http' | 'mcp_form' | 'terminal' | 'library' | 'system'

/** A tool call as its step stores it. */
export interface ToolCallRecord {
  readonly tool_call_id: string
  readonly tool: string
  readonly arguments: Json
  /** Why the call cannot be made: an unknown tool, or arguments that are not JSON. */
  readonly problem?: string
}

/** How a claim ended. `reported`: there was nobody to ask. */
export type ClaimEnd =
  | 'checks'
  | 'judge'
  | 'reported'
  | 'check_failed'
  | 'inconclusive'
  | 'not_ok'
  | 'unknown'
  | 'edited'
  | 'stopped'
  | 'no_workspace'
  | 'refused'

/** A check by its task, its id there, and its content. */
export interface CheckRef {
  readonly task_id?: string
  readonly check_id: string
  readonly hash: string
}

/** The guarded files that changed for another task with the same check, or without an id for the plan itself. */
export interface OtherGuard {
  readonly task_id?: string
  readonly guarded: readonly string[]
  readonly guard: string
}

/** Who decided, and from where. Absent where the event records no decision. */
export interface Attributed {
  readonly origin?: Origin
}

/** Every event type and its data. The stored event is the sent event, field for field. */
export interface EventData {
  policy_set: Attributed & { readonly policy: Policy; readonly by: Actor }
  /** A person names the conversation, or a model does, once. */
  title_set: {
    readonly title: string
    readonly by: 'person' | 'model'
    /** The model that named it, and what that took. */
    readonly model?: string
    readonly usage?: Usage
  }
  pin_set: { readonly pinned: boolean }
  archive_set: { readonly archived: boolean }
  turn_opened: Attributed & {
    readonly turn_id: string
    readonly plan_id: string
    /** The program that opened it and its folder, for people. */
    readonly client?: string
    /** Where its checks run. */
    readonly workspace?: Workspace
    /** The checks that run once before its plan ends. */
    readonly done_checks?: readonly Check[]
  }
  turn_started: Attributed & {
    readonly turn_id: string
    /** The plan that it works on: its own, or that of the turn that it continues. */
    readonly plan_id: string
    readonly message_id: string
    readonly message: string
    readonly policy: Policy
    readonly model: string
    /** Where the model was reached then, as an opaque name: the turn goes on there. Absent if only a restart changes that. */
    readonly endpoint?: string
    readonly continue_turn_id?: string
    /** Where its checks run. */
    readonly workspace?: Workspace
    /** The checks that run once before its plan ends. */
    readonly done_checks?: readonly Check[]
  }
  /** A turn works on this plan from now on, which takes over open tasks of further plans. */
  plan_joined: { readonly turn_id: string; readonly plan_id: string; readonly task_ids: readonly string[] }
  turn_stop_requested: Attributed & { readonly turn_id: string }
  turn_failed: { readonly turn_id: string; readonly code: string; readonly message: string }
  turn_finished: {
    readonly turn_id: string
    readonly status: TurnStatus
    readonly because: EndReason
    readonly remaining: number
    readonly counts: PlanCounts
    /** The completed tasks of the plan by standing. */
    readonly standings: Readonly<Record<Standing, number>>
    readonly steps: number
    readonly usage: Usage
  }
  message_added: {
    readonly message_id: string
    readonly role: 'user' | 'assistant' | 'system'
    readonly text: string
    readonly synthetic?: boolean
    /** How much of `text` the agent wrote: the rest says how the turn ended. Absent if all of it. */
    readonly answer_length?: number
  }
  /** A person wrote to the agent at work. `message_added` or `turn_started` with this id delivers it. */
  message_queued: Attributed & { readonly message_id: string; readonly text: string }
  queued_message_edited: Attributed & {
    readonly message_id: string
    readonly text: string
    readonly version: number
  }
  queued_message_withdrawn: Attributed & { readonly message_id: string }
  /** The queue starts the next turn, however this one ends. */
  queue_released: Attributed & { readonly turn_id: string }
  step_finished: {
    readonly step: number
    readonly message_id: string
    readonly text: string
    /** The answer is not whole; the end of `text`, from `answer_length` on, says so. */
    readonly cut?: Cut
    readonly answer_length?: number
    readonly tool_calls: readonly ToolCallRecord[]
    readonly usage: Usage
    /** The seq of the digest that the model was given. Edits after it fence this step's writes. */
    readonly digest_seq: number
    /** The task that was current when the model was asked. */
    readonly task_id?: string
    /** The turn's budget of model calls as of this step. */
    readonly budget?: number
    /** The message parts as the provider sent them, so that a resumed turn can send them back. */
    readonly parts?: Json
  }
  tool_called: { readonly tool_call_id: string; readonly tool: string; readonly arguments: Json }
  tool_answered: {
    readonly tool_call_id: string
    readonly tool: string
    readonly result: Json
    readonly duration_ms: number
    readonly ok: boolean
    /** The way in, and the length of the list in the arguments. Absent for tools from outside. */
    readonly edge?: Edge
    readonly items?: number
    /** The reopened review whose outcome the answer also carries. */
    readonly review_id?: string
  }
  /** A call of a tool from outside waits for a person. */
  tool_approval_required: ToolApprovalRequest
  tool_approval_resolved: Attributed & {
    readonly approval_id: string
    readonly decision: ApprovalDecision
    readonly via: DecisionVia
    /** It ended without a person's word. */
    readonly reason?: ApprovalEnd
    readonly comment?: string
  }
  todos_resubmitting: {
    readonly next: string
    readonly state: Json
    readonly iteration: number
    readonly max_iterations: number
  }
  todos_limit_reached: { readonly message: string; readonly remaining: number; readonly current: Json }
  gate_followed: { readonly follow_up: number; readonly open: readonly Json[] }
  task_created: Attributed & { readonly task: Task; readonly by: Actor }
  task_changed: Attributed & {
    readonly task: Task
    readonly by: Actor
    readonly from: { readonly [field: string]: Json }
    /** Why the system changed it. */
    readonly reason?: string
  }
  task_removed: Attributed & { readonly task: Task; readonly by: Actor }
  task_assessed: {
    readonly task_id: string
    readonly verdict: Verdict
    readonly reason: string
    readonly model: string
    readonly usage?: Usage
    /** A hash of the title, details, criteria and outcome that the verdict is about. */
    readonly seal: string
    /** What an ok rests on. */
    readonly rests?: VerdictBasis
    /** The evidence that it names, by id. */
    readonly cited?: readonly string[]
    /** A person changed the task while it was assessed: the verdict grants nothing and is not counted. */
    readonly fenced?: true
  }
  task_create_review_required: Attributed & ReviewRequest
  task_create_review_resolved: Attributed & {
    readonly review_id: string
    readonly action: 'confirm' | 'cancel'
    readonly reason?: CancelReason | (string & {})
    readonly comment?: string
    /** What the person said about rows of the proposal. */
    readonly row_comments?: readonly RowComment[]
    readonly via: DecisionVia
    readonly created_count: number
    readonly changes?: Changes
    /** The task that each confirmed row became, in row order. */
    readonly tasks?: readonly ConfirmedTask[]
    /** The rows that a plan was sent back with, if they were edited, in row order. */
    readonly rows?: readonly RowChange[]
    /** The turn that goes on with a reopened plan, where the turn that asked is over. */
    readonly continued_by?: string
    /** Milliseconds before it in which the person had decided and could still undo it. */
    readonly held_ms?: number
  }
  /** A model says that a task is settled. Nothing is granted before `claim_settled`. */
  claim_made: MadeClaim
  claim_settled: {
    readonly claim_id: string
    readonly task_id: string
    readonly result: 'granted' | 'refused'
    readonly because: ClaimEnd
  }
  check_approved: Attributed & {
    readonly task_id: string
    readonly check_id: string
    readonly hash: string
    readonly via: 'review' | 'edit' | 'configuration'
  }
  /** A run that no claim asks for. Without a task: a check of the whole plan. */
  check_requested: Attributed &
    CheckRef & {
      readonly why: Exclude<RunReason, 'claim'>
      /** Which of the runs before a plan ends it belongs to, from 1. */
      readonly pass?: number
    }
  check_started: CheckRef & { readonly run_id: string; readonly why: RunReason; readonly claim_id?: string }
  /** The process that made the run ended in good order: the next one makes it again, and it does not count as a try. */
  check_handed_back: CheckRef & { readonly run_id: string; readonly why: RunReason; readonly claim_id?: string }
  check_ran: CheckRef & {
    readonly run_id: string
    readonly why: RunReason
    readonly claim_id?: string
    readonly result: CheckResult
    readonly exit?: number
    readonly duration_ms: number
    /** Why it is inconclusive. */
    readonly reason?: string
    /** It was not run: what it runs is not what was approved any more. */
    readonly changed?: true
    /** The end of the output. */
    readonly tail?: string
    readonly output_sha256?: string
    /** The workspace before the run. */
    readonly fingerprint?: string
    /** The guarded files that differ from those at confirmation, and a digest of how. */
    readonly guarded?: readonly string[]
    readonly guard?: string
    /**
     * The same, where there are some, for the other tasks of the plan with this check, and for the plan itself, without
     * `task_id`: each has a confirmation and a leave of its own.
     */
    readonly others?: readonly OtherGuard[]
  }
  /** The guarded files at confirmation, each with its hash. */
  baseline_taken: {
    readonly plan_id: string
    /** The globs that were looked at, and the hashes of the checks. */
    readonly covers: readonly string[]
    readonly files: { readonly [path: string]: string }
    /** The files that the check itself wrote before the work: `files` has them as they were after that. */
    readonly written?: readonly string[]
    /** There were too many to watch. */
    readonly incomplete?: true
    /** The files that a fingerprint covered. Absent where there was none, and in later parts of a baseline. */
    readonly tracked?: TrackedFiles
  }
  guard_accepted: Attributed & { readonly task_id: string; readonly paths: readonly string[]; readonly guard: string }
  check_ticked: Attributed & { readonly task_id: string; readonly check_id: string }
  /** What a host or an agent says that one of its own tools answered. Runs of ours have `tool_answered`. */
  evidence_added: ToolFact & {
    readonly evidence_id: string
    /** The task that was in progress, or that the report names. */
    readonly task_id: string
    readonly source: Exclude<EvidenceSource, 'run'>
  }
  review_panel_opened: { readonly review_id: string; readonly panel: string }
  review_panel_left: { readonly review_id: string; readonly panel: string }
  /** A person gave it more time. */
  review_extended: Attributed & { readonly review_id: string; readonly expires_at: Instant }
}

/** The types of the events in a log. */
export type EventType = keyof EventData

/** A decided event that has no seq yet. */
export type NewEvent<T extends EventType = EventType> = {
  readonly [K in T]: { readonly type: K; readonly turn_id: string | null; readonly data: EventData[K] }
}[T]

/** An event in its conversation's log. */
export type StoredEvent<T extends EventType = EventType> = {
  readonly [K in T]: {
    readonly type: K
    readonly timestamp: Instant
    readonly seq: number
    readonly session_id: string
    readonly turn_id: string | null
    readonly data: EventData[K]
  }
}[T]

/** The version that events are stored with. Raise it when one means something else: other versions are refused. */
export const EVENT_VERSION = 2
