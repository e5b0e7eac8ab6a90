import type { Check, CheckResult, Workspace } from '../proof/check.ts'
import type { VerdictBasis } from '../proof/claims.ts'
import type { EvidenceSource, ToolFact } from '../proof/evidence.ts'
import type { Instant } from './instant.ts'
import type { Origin } from './origin.ts'
import type { Policy } from './policy.ts'
import type { MadeClaim, RunReason } from '../proof/proof.ts'
import { shortPaths, type AcceptedFile, type FileChange, type OtherChanges } from '../proof/file-change.ts'
import type { Standing } from '../proof/standing.ts'
import type { CancelReason } from './review-action.ts'
import type { Changes, ConfirmedTask, ReviewRequest, RowChange, RowComment } from './review.ts'
import type { Actor, Task } from './task.ts'
import { cut } from './text.ts'
import type { ApprovalDecision, ApprovalEnd, ToolApprovalRequest } from './tool-approval.ts'
import type { EndReason, PlanCounts, TurnStatus } from './turn.ts'

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
/** Token counts as the provider reports them. */
export type Usage = { readonly [key: string]: Json }
/** The judge's ruling; `unknown` settles nothing. */
export type Verdict = 'ok' | 'not_ok' | 'unknown'
/** The reason an answer is incomplete: over 1 MB, the model's output limit, or the provider's filter. */
export type Cut = 'too_long' | 'output_limit' | 'content_filter'
/** The edge that a tool call came through: a turn of ours, HTTP, MCP, or a program with the library. */
export type Edge = 'turn' | 'http' | 'mcp' | 'library'
export type DecisionVia = 'http' | 'mcp_form' | 'terminal' | 'library' | 'system'

/** A tool call as the model made it. */
export interface ToolCallRecord {
  /** Unique in its turn. */
  readonly tool_call_id: string
  /** The name of the tool. */
  readonly tool: string
  /** The arguments that the model passed. */
  readonly arguments: Json
  /** The reason the call could not be made. */
  readonly problem?: string
}

/** The reason a claim ended. `reported`: there was no judge to ask. */
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

/** A reference to a check by its task, its id there, and its hash. */
export interface CheckRef {
  /** The task; absent for a check of the whole plan. */
  readonly task_id?: string
  readonly check_id: string
  /** The hash of its content. */
  readonly hash: string
  /** It is held out: agents learn its result alone. */
  readonly hidden?: true
}

/** A run of a check. */
export interface RunRef extends CheckRef {
  readonly run_id: string
  readonly why: RunReason
  readonly claim_id?: string
}

/** The origin of a decision: the actor and the edge. Absent if the event records no decision. */
export interface Attributed {
  /** The origin of the decision: the actor and the edge; absent if the event records none. */
  readonly origin?: Origin
}

/** The result of a review. */
export type Resolution = Attributed & {
  readonly review_id: string
  /** `cancel` also for an expired review. */
  readonly action: 'confirm' | 'cancel'
  /**
   * The reason for a cancel: `user_cancelled`, `review_timeout`, `panel_closed`, `turn_stopped`, `changes_requested`,
   * `superseded`, or the person's own words.
   */
  readonly reason?: CancelReason | (string & {})
  /** A comment for the agent. */
  readonly comment?: string
  /** Comments for the agent on rows of the draft. */
  readonly row_comments?: readonly RowComment[]
  /** The edge that the decision came through. */
  readonly via: DecisionVia
  /** The number of tasks that it created. */
  readonly created_count: number
  /** The person's changes to the draft. */
  readonly changes?: Changes
  /** The task that each confirmed row became, in row order. */
  readonly tasks?: readonly ConfirmedTask[]
  /** The rows of a plan sent back with edits, in row order. */
  readonly rows?: readonly RowChange[]
  /** The turn that continues a reopened plan. */
  readonly continued_by?: string
  /** Milliseconds during which the person could still undo the decision before it was recorded. */
  readonly held_ms?: number
}

/** Every event type and its data. The stored event is the sent event, field for field. */
export interface EventData {
  /** The policy was set. */
  policy_set: Attributed & {
    /** The whole policy. */
    readonly policy: Policy
    readonly by: Actor
  }
  /** An agent elsewhere began a turn with its first tool call. */
  turn_opened: Attributed & {
    readonly turn_id: string
    readonly plan_id: string
    /** The program that began it and its folder. */
    readonly client?: string
    /** The workspace that its checks run in. */
    readonly workspace?: Workspace
    /** The checks that run once before its plan ends. */
    readonly done_checks?: readonly Check[]
  }
  /** The server began a turn: a person sent a message, or a queued message started it when the previous turn ended. */
  turn_started: Attributed & {
    readonly turn_id: string
    /** The plan that it works on: its own, or that of the turn that it continues. */
    readonly plan_id: string
    readonly message_id: string
    /** The person's message. */
    readonly message: string
    /** The policy that it runs under. */
    readonly policy: Policy
    /** The name of the model. */
    readonly model: string
    /**
     * The model's endpoint at the start, as an opaque name.
     *
     * The turn continues there. Absent if the endpoint only changes with a restart.
     */
    readonly endpoint?: string
    /** The turn whose plan this one continues. */
    readonly continue_turn_id?: string
    /** The workspace that its checks run in. */
    readonly workspace?: Workspace
    /** The checks that run once before its plan ends. */
    readonly done_checks?: readonly Check[]
  }
  /** The turn joined this plan, which takes over open tasks of further plans. */
  plan_joined: {
    readonly turn_id: string
    readonly plan_id: string
    /** The tasks taken over from further plans. */
    readonly task_ids: readonly string[]
  }
  /** A person asked the turn to stop. */
  turn_stop_requested: Attributed & { readonly turn_id: string }
  /** The turn could not go on; `turn_finished` follows. */
  turn_failed: {
    readonly turn_id: string
    /** A code for programs. */
    readonly code: string
    /** A message for people. */
    readonly message: string
  }
  /** The turn ended. */
  turn_finished: {
    readonly turn_id: string
    readonly status: TurnStatus
    /** The reason it ended. */
    readonly because: EndReason
    /** The number of open tasks in the plan. */
    readonly remaining: number
    /** The tasks of the plan by status. */
    readonly counts: PlanCounts
    /** Its completed tasks by standing. */
    readonly standings: Readonly<Record<Standing, number>>
    /** The number of model calls. */
    readonly steps: number
    readonly usage: Usage
  }
  /** A message was added, or its last part if it belongs to a step. */
  message_added: {
    readonly message_id: string
    /** The author. */
    readonly role: 'user' | 'assistant' | 'system'
    /** The text of the message. */
    readonly text: string
    /** Written by the server, not by a person. */
    readonly synthetic?: boolean
    /** The length of the agent's own text; the rest says how the turn ended. */
    readonly answer_length?: number
  }
  /**
   * A person wrote to the working agent. The message waits; a `message_added` or `turn_started` with its id delivers
   * it.
   */
  message_queued: Attributed & {
    readonly message_id: string
    /** The text of the message. */
    readonly text: string
  }
  /** A person edited a queued message. */
  queued_message_edited: Attributed & {
    readonly message_id: string
    /** The whole new text. */
    readonly text: string
    /** Its new version; it was queued with version 1. */
    readonly version: number
  }
  /** A person withdrew a queued message. */
  queued_message_withdrawn: Attributed & { readonly message_id: string }
  /** A person asked to send the queued messages: they start the next turn, however this one ends. */
  queue_released: Attributed & { readonly turn_id: string }
  /** The conversation was named. */
  title_set: {
    /** The new title. */
    readonly title: string
    /** The author of the title. A model names a conversation once, and never over a person's title. */
    readonly by: 'person' | 'model'
    /** The model that named it. */
    readonly model?: string
    readonly usage?: Usage
  }
  /** A person pinned or unpinned the conversation. */
  pin_set: {
    /** True: lists show it first. */
    readonly pinned: boolean
  }
  /** A person archived or unarchived the conversation. */
  archive_set: {
    /** True: lists leave it out. */
    readonly archived: boolean
  }
  /** One model call was answered. */
  step_finished: {
    /** Its number in the turn, from 1. */
    readonly step: number
    readonly message_id: string
    /** The text of the answer. */
    readonly text: string
    readonly cut?: Cut
    /** The length of the agent's own text, if the text was cut. */
    readonly answer_length?: number
    /** The tools that it called. */
    readonly tool_calls: readonly ToolCallRecord[]
    readonly usage: Usage
    /**
     * The seq of the last event that the model knew of.
     *
     * Edits after it fence this step's writes.
     */
    readonly digest_seq: number
    /** The task that was in progress. */
    readonly task_id?: string
    /** The maximum of model calls in the turn. */
    readonly budget?: number
    /** The answer in the provider's format, to resume from. */
    readonly parts?: Json
  }
  /** A tool call began. */
  tool_called: {
    readonly tool_call_id: string
    /** The name of the tool. */
    readonly tool: string
    /** The arguments that the model passed. */
    readonly arguments: Json
  }
  /** A tool call was answered. */
  tool_answered: {
    readonly tool_call_id: string
    /** The name of the tool. */
    readonly tool: string
    /** The answer for the model. */
    readonly result: Json
    /** The duration in milliseconds. */
    readonly duration_ms: number
    /** False if the call was refused or failed. */
    readonly ok: boolean
    /** The edge that the call came through; absent for tools from outside. */
    readonly edge?: Edge
    /** The length of the list in its arguments. */
    readonly items?: number
    /** The reopened review whose outcome the answer also carries. */
    readonly review_id?: string
  }
  /** A call of a tool from outside waits for a person. */
  tool_approval_required: ToolApprovalRequest
  /** A person allowed or denied the call, or it ended by itself. */
  tool_approval_resolved: Attributed & {
    /** The approval. */
    readonly approval_id: string
    /** `always`: future calls of this tool are allowed, too. */
    readonly decision: ApprovalDecision
    /** The edge that it was decided through. */
    readonly via: DecisionVia
    /** The reason it ended without a person's decision. */
    readonly reason?: ApprovalEnd
    /** The person's comment. */
    readonly comment?: string
  }
  /** The next task was handed to the model, in `manage_todos`. */
  todos_resubmitting: {
    /** The title of the task. */
    readonly next: string
    /** The list, in the form of `todos_updated`. */
    readonly state: Json
    /** Its number in the turn, from 1. */
    readonly iteration: number
    /** The maximum of a turn. */
    readonly max_iterations: number
  }
  /** The turn has handed over as many tasks as it may, in `manage_todos`. */
  todos_limit_reached: {
    /** The text for the person. */
    readonly message: string
    /** The number of open tasks in the plan. */
    readonly remaining: number
    /** The task in progress, in the form of `todos_current`. */
    readonly current: Json
  }
  /** The model answered with open tasks, and the gate sent it back to them. */
  gate_followed: {
    /** Counts from 1 since a task was last settled. */
    readonly follow_up: number
    /** The number and title of each open task. */
    readonly open: readonly Json[]
  }
  /** A task was created. */
  task_created: Attributed & {
    /** The whole task after the event. */
    readonly task: Task
    readonly by: Actor
  }
  /** A task was changed. */
  task_changed: Attributed & {
    /** The whole task after the event. */
    readonly task: Task
    readonly by: Actor
    /** The previous values of the changed fields. */
    readonly from: { readonly [field: string]: Json }
    /** The reason for a change by the system. */
    readonly reason?: string
  }
  /** A task was removed from the list. */
  task_removed: Attributed & {
    /** The whole task after the event. */
    readonly task: Task
    readonly by: Actor
  }
  /** The judge ruled on a claim about a task. */
  task_assessed: {
    readonly task_id: string
    readonly verdict: Verdict
    /** The judge's words. */
    readonly reason: string
    /** The judge's model. */
    readonly model: string
    readonly usage?: Usage
    /** A hash of the judged title, details, criteria and outcome. */
    readonly seal: string
    /** The basis of an ok: cited evidence, uncited evidence, or words alone. */
    readonly rests?: VerdictBasis
    /** The ids of the evidence that it cites. */
    readonly cited?: readonly string[]
    /** The verdict has no effect, because a person changed the task meanwhile. */
    readonly fenced?: true
    /** The task has a held-out check, so agents do not learn the reason. */
    readonly hidden?: true
  }
  /** A person is asked to confirm new tasks. */
  task_create_review_required: Attributed & ReviewRequest
  /** A review was confirmed, cancelled or expired. */
  task_create_review_resolved: Resolution
  /**
   * A model claimed that a task is settled. Checks and the judge come first.
   *
   * Nothing is granted before `claim_settled`.
   */
  claim_made: MadeClaim
  /** A claim was granted or refused. */
  claim_settled: {
    readonly claim_id: string
    readonly task_id: string
    /** `granted`: the task now has the claimed status. */
    readonly result: 'granted' | 'refused'
    /** The reason for the result. */
    readonly because: ClaimEnd
  }
  /** A check was approved to run: a person, or the configuration, approved exactly this content. */
  check_approved: Attributed & {
    readonly task_id: string
    readonly check_id: string
    /** The hash of its content. */
    readonly hash: string
    /** The way it was approved. */
    readonly via: 'review' | 'edit' | 'configuration'
  }
  /** A run was requested, other than by a claim. */
  check_requested: Attributed &
    CheckRef & {
      /** The reason: the plan was confirmed, it is about to end, or a person asked. */
      readonly why: Exclude<RunReason, 'claim'>
      /** The pass of final runs that it belongs to, from 1. */
      readonly pass?: number
    }
  /** A run began. */
  check_started: RunRef
  /**
   * The process that executed a run shut down in good order, and the run is retried.
   *
   * It does not count as a try.
   */
  check_handed_back: RunRef
  /** A run ended. */
  check_ran: RunRef & {
    readonly result: CheckResult
    /** The exit code. */
    readonly exit?: number
    /** The duration in milliseconds. */
    readonly duration_ms: number
    /** The reason it is inconclusive. */
    readonly reason?: string
    /** It did not run, because it no longer is what was approved. */
    readonly changed?: true
    /** The end of the output. */
    readonly tail?: string
    /** A hash of the whole output. */
    readonly output_sha256?: string
    /** A hash of the workspace. */
    readonly fingerprint?: string
    /** Files that changed since the plan was approved, and that the step may not change. */
    readonly changes?: readonly FileChange[]
    /** There were too many files: only protected ones, those that checks name, and scopes were compared. */
    readonly partial?: true
    /** The same for other tasks of the plan with this check, or without `task_id` for the plan itself. */
    readonly others?: readonly OtherChanges[]
  }
  /** The files of the workspace were recorded as they were when the plan was approved and its checks had run first. */
  baseline_taken: {
    readonly plan_id: string
    /** The hash of the record, under which it is stored beside the log; null: the files could not be read. */
    readonly record: string | null
  }
  /** A person accepted changes that a task's checks wait for, for the whole plan. */
  changes_accepted: Attributed & {
    readonly task_id: string
    readonly plan_id: string
    /** The files, as they are now. */
    readonly files: readonly AcceptedFile[]
  }
  /** A person ticked a check. */
  check_ticked: Attributed & { readonly task_id: string; readonly check_id: string }
  /** A host or an agent elsewhere reported a call of one of its own tools. It proves nothing. */
  evidence_added: ToolFact & {
    /** The report. */
    readonly evidence_id: string
    readonly task_id: string
    /** The reporter. */
    readonly source: Exclude<EvidenceSource, 'run'>
  }
  /** A panel opened the review. */
  review_panel_opened: {
    readonly review_id: string
    /** The panel, by a name of its own. */
    readonly panel: string
  }
  /** A panel closed the review. */
  review_panel_left: {
    readonly review_id: string
    /** The panel, by a name of its own. */
    readonly panel: string
  }
  /** A person gave the review more time. */
  review_extended: Attributed & {
    readonly review_id: string
    /** The new deadline. */
    readonly expires_at: Instant
  }
}

/** The types of the events in a log. */
export type EventType = keyof EventData

/** A decided event without a seq. */
export type NewEvent<T extends EventType = EventType> = {
  readonly [K in T]: { readonly type: K; readonly turn_id: string | null; readonly data: EventData[K] }
}[T]

/** An event in its conversation's log. */
export type StoredEvent<T extends EventType = EventType> = {
  readonly [K in T]: {
    readonly type: K
    /** The time of the commit; all events of a commit share it. */
    readonly timestamp: Instant
    /** Position in the log, from 1. */
    readonly seq: number
    readonly session_id: string
    /** The turn that it belongs to, if any. */
    readonly turn_id: string | null
    readonly data: EventData[K]
  }
}[T]

/** The version that events are stored with. Raise it when an event changes its meaning: other versions are refused. */
export const EVENT_VERSION = 2

/** Events that are part of the history of tasks and reviews. The page has a sentence for each. */
export const TIMELINE = [
  'task_created',
  'task_changed',
  'task_removed',
  'task_assessed',
  'task_create_review_required',
  'task_create_review_resolved',
  'review_extended',
  'check_approved',
  'check_ran',
  'changes_accepted',
  'check_ticked',
] as const satisfies readonly EventType[]

export type TimelineType = (typeof TIMELINE)[number]

/** Events that may record a decision: those whose data can hold an origin. */
export type DecisionType = {
  [T in EventType]: 'origin' extends keyof EventData[T] ? T : never
}[EventType]

/**
 * The decision in an event for the audit record; undefined if it is none. `created`: the number of tasks that it wrote.
 */
type Decided = { readonly [T in DecisionType]: (data: EventData[T], created: number) => string | undefined }

export const DECISIONS: Decided = {
  policy_set: ({ policy }) => `policy set: ${policyWords(policy)}`,
  turn_opened: ({ turn_id }) => `turn ${turn_id} opened`,
  turn_started: ({ turn_id }) => `turn ${turn_id} started`,
  turn_stop_requested: ({ turn_id }) => `turn ${turn_id} stopped`,
  message_queued: ({ message_id }) => `message ${message_id} queued`,
  queued_message_edited: ({ message_id }) => `queued message ${message_id} edited`,
  queued_message_withdrawn: ({ message_id }) => `queued message ${message_id} taken back`,
  queue_released: ({ turn_id }) => `queued messages to be sent when turn ${turn_id} stops`,
  tool_approval_resolved: ({ approval_id, decision, reason }) =>
    `call ${approval_id} ${ALLOWED[decision]}${reason === undefined ? '' : `: ${reason}`}`,
  // A model's new tasks need no review only where the policy says so.
  task_created: ({ task, by }, created) => {
    if (by === 'system') return undefined
    return by === 'model' ? `${tasks(created)} written without review, from ${named(task)}` : `${named(task)} added`
  },
  task_changed: ({ task, by, from }) => {
    if (!isEdit(by)) return undefined
    if ('removed_at' in from) return `${named(task)} brought back`
    if ('dispute' in from && task.dispute?.ended) return `dispute of ${named(task)} ended: ${task.dispute.ended.how}`
    if ('status' in from) return `${named(task)} set to ${task.status}`
    return `${named(task)} changed: ${Object.keys(from).join(', ')}`
  },
  task_removed: ({ task, by }) => (isEdit(by) ? `${named(task)} removed` : undefined),
  task_create_review_required: ({ review_id, reopens }) =>
    reopens === undefined ? undefined : `review ${reopens} reopened as ${review_id}`,
  task_create_review_resolved: ({ review_id, action, reason }, created) =>
    action === 'confirm' ? `review ${review_id} confirmed: ${tasks(created)}` : `review ${review_id} ended: ${reason}`,
  review_extended: ({ review_id, expires_at }) => `review ${review_id} extended until ${expires_at}`,
  check_approved: ({ task_id, check_id, hash, via }) =>
    via === 'configuration' ? undefined : `check ${check_id} of task ${task_id} approved: ${hash}`,
  check_requested: ({ task_id, check_id, why }) =>
    why === 'person' ? `check ${check_id} of task ${task_id} run` : undefined,
  changes_accepted: ({ task_id, files }) =>
    `changes accepted for task ${task_id}: ${shortPaths(files.map(({ path }) => path)).join(', ')}`,
  check_ticked: ({ task_id, check_id }) => `check ${check_id} of task ${task_id} ticked`,
}

const ALLOWED: { readonly [D in ApprovalDecision]: string } = {
  allow: 'allowed',
  always: 'allowed, from now on always',
  deny: 'denied',
}

const isEdit = (by: Actor): boolean => by === 'person' || by === 'file'

const policyWords = ({ toolset, ...flags }: Policy): string =>
  [toolset, ...(['review', 'assessor', 'gate'] as const).map(name => `${name} ${flags[name] ? 'on' : 'off'}`)].join(
    ', ',
  )

const named = ({ number, title }: Task): string => `task ${number} "${cut(title, 60)}"`
const tasks = (count: number): string => (count === 1 ? '1 task' : `${count} tasks`)
