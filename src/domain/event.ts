import type { Check, CheckResult, TrackedFiles, Workspace } from './check.ts'
import type { VerdictBasis } from './claim.ts'
import type { EvidenceSource, ToolFact } from './evidence.ts'
import type { Instant } from './instant.ts'
import type { Origin } from './origin.ts'
import type { Policy } from './policy.ts'
import type { MadeClaim, RunReason } from './proof.ts'
import { shortPaths } from './short-paths.ts'
import type { Standing } from './standing.ts'
import type { CancelReason } from './review-action.ts'
import type { Changes, ConfirmedTask, ReviewRequest, RowChange, RowComment } from './review.ts'
import type { Actor, Task } from './task.ts'
import { cut } from './text.ts'
import type { ApprovalDecision, ApprovalEnd, ToolApprovalRequest } from './tool-approval.ts'
import type { EndReason, PlanCounts, TurnStatus } from './turn.ts'

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
/** Token counts of the provider. */
export type Usage = { readonly [key: string]: Json }
/** `unknown` settles nothing. */
export type Verdict = 'ok' | 'not_ok' | 'unknown'
/** Why the answer is not whole: it has over 1 MB, the model's own limit, or the provider's filter. */
export type Cut = 'too_long' | 'output_limit' | 'content_filter'
/** The way in that a tool call took: a turn of ours, HTTP, MCP, or a program. */
export type Edge = 'turn' | 'http' | 'mcp' | 'library'
export type DecisionVia = 'http' | 'mcp_form' | 'terminal' | 'library' | 'system'

/** A tool call as the model made it. */
export interface ToolCallRecord {
  /** Unique in its turn. */
  readonly tool_call_id: string
  /** The name of the tool. */
  readonly tool: string
  /** What the model passed. */
  readonly arguments: Json
  /** Why the call could not be made. */
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
  /** The task; absent for a check of the whole plan. */
  readonly task_id?: string
  readonly check_id: string
  /** Its content. */
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
  /** Who decided, and from where; absent if it is no decision. */
  readonly origin?: Origin
}

/** How a review ended. */
export type Resolution = Attributed & {
  readonly review_id: string
  /** An expired review is a cancelled one. */
  readonly action: 'confirm' | 'cancel'
  /** Why it was cancelled: `user_cancelled`, `review_timeout`, `panel_closed`, `turn_stopped`, `changes_requested`, `superseded`, or the words of the person. */
  readonly reason?: CancelReason | (string & {})
  /** For the agent. */
  readonly comment?: string
  /** For the agent, about rows of the draft. */
  readonly row_comments?: readonly RowComment[]
  /** How the decision came in. */
  readonly via: DecisionVia
  /** Tasks that it created. */
  readonly created_count: number
  /** What the person did to the draft. */
  readonly changes?: Changes
  /** The task that each confirmed row became, in row order. */
  readonly tasks?: readonly ConfirmedTask[]
  /** The rows that a plan was sent back with, if they were edited, in row order. */
  readonly rows?: readonly RowChange[]
  /** The turn that goes on with a reopened plan. */
  readonly continued_by?: string
  /** Milliseconds before it in which the person had decided and could still undo it. */
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
    /** Where its checks run. */
    readonly workspace?: Workspace
    /** The checks that run once before its plan ends. */
    readonly done_checks?: readonly Check[]
  }
  /** A person sent a message, and the server began a turn; or a queued message began one when the turn before it ended. */
  turn_started: Attributed & {
    readonly turn_id: string
    /** The plan that it works on: its own, or that of the turn that it continues. */
    readonly plan_id: string
    readonly message_id: string
    /** What the person wrote. */
    readonly message: string
    /** The policy that it runs under. */
    readonly policy: Policy
    /** The name of the model. */
    readonly model: string
    /**
     * Where the model was reached then, as an opaque name.
     *
     * The turn goes on there. Absent if only a restart changes that.
     */
    readonly endpoint?: string
    /** The turn whose plan this one goes on with. */
    readonly continue_turn_id?: string
    /** Where its checks run. */
    readonly workspace?: Workspace
    /** The checks that run once before its plan ends. */
    readonly done_checks?: readonly Check[]
  }
  /** The turn works on this plan from now on, which takes over open tasks of further plans. */
  plan_joined: {
    readonly turn_id: string
    readonly plan_id: string
    /** The tasks of further plans. */
    readonly task_ids: readonly string[]
  }
  /** A person asked the turn to stop. */
  turn_stop_requested: Attributed & { readonly turn_id: string }
  /** The turn could not go on; `turn_finished` follows. */
  turn_failed: {
    readonly turn_id: string
    /** What failed, for programs. */
    readonly code: string
    /** What failed, for people. */
    readonly message: string
  }
  /** The turn ended. */
  turn_finished: {
    readonly turn_id: string
    readonly status: TurnStatus
    /** Why it ended. */
    readonly because: EndReason
    /** Open tasks of the plan. */
    readonly remaining: number
    /** The tasks of the plan by status. */
    readonly counts: PlanCounts
    /** Its completed tasks by standing. */
    readonly standings: Readonly<Record<Standing, number>>
    /** Model calls. */
    readonly steps: number
    readonly usage: Usage
  }
  /** A message was added, or the last part of a step's message. */
  message_added: {
    readonly message_id: string
    /** The author. */
    readonly role: 'user' | 'assistant' | 'system'
    /** What was written. */
    readonly text: string
    /** Written by the server, not by a person. */
    readonly synthetic?: boolean
    /** How much of the text the agent wrote; the rest says how the turn ended. */
    readonly answer_length?: number
  }
  /** A person wrote to the agent at work. The message waits; a `message_added` or `turn_started` with its id delivers it. */
  message_queued: Attributed & {
    readonly message_id: string
    /** What was written. */
    readonly text: string
  }
  /** A person edited a message that waits. */
  queued_message_edited: Attributed & {
    readonly message_id: string
    /** All of it, as it is now. */
    readonly text: string
    /** Its version now; it was queued with version 1. */
    readonly version: number
  }
  /** A person took back a message that waited. */
  queued_message_withdrawn: Attributed & { readonly message_id: string }
  /** A person wants what waits to be sent: it starts the next turn, however this one ends. */
  queue_released: Attributed & { readonly turn_id: string }
  /** The conversation was named. */
  title_set: {
    /** Its title from now on. */
    readonly title: string
    /** Who named it; a model does so once, and never over a person's name. */
    readonly by: 'person' | 'model'
    /** The model that named it. */
    readonly model?: string
    readonly usage?: Usage
  }
  /** A person pinned the conversation, or took the pin away. */
  pin_set: {
    /** Whether it comes first in lists. */
    readonly pinned: boolean
  }
  /** A person archived the conversation, or brought it back. */
  archive_set: {
    /** Whether lists leave it out. */
    readonly archived: boolean
  }
  /** The model answered one call. */
  step_finished: {
    /** Its number in the turn, from 1. */
    readonly step: number
    readonly message_id: string
    /** What was written. */
    readonly text: string
    readonly cut?: Cut
    /** How much of a text that was cut the agent wrote. */
    readonly answer_length?: number
    /** The tools that it called. */
    readonly tool_calls: readonly ToolCallRecord[]
    readonly usage: Usage
    /**
     * The last event that the model knew of.
     *
     * Edits after it fence this step's writes.
     */
    readonly digest_seq: number
    /** The task that was in progress. */
    readonly task_id?: string
    /** Most model calls of the turn. */
    readonly budget?: number
    /** The answer in the provider's format, to resume from. */
    readonly parts?: Json
  }
  /** A tool call began. */
  tool_called: {
    readonly tool_call_id: string
    /** The name of the tool. */
    readonly tool: string
    /** What the model passed. */
    readonly arguments: Json
  }
  /** A tool call was answered. */
  tool_answered: {
    readonly tool_call_id: string
    /** The name of the tool. */
    readonly tool: string
    /** The answer for the model. */
    readonly result: Json
    /** How long it took. */
    readonly duration_ms: number
    /** False if the call was refused or failed. */
    readonly ok: boolean
    /** The way in; absent for tools from outside. */
    readonly edge?: Edge
    /** The length of the list in its arguments. */
    readonly items?: number
    /** The reopened review whose outcome the answer also carries. */
    readonly review_id?: string
  }
  /** A call of a tool from outside waits for a person. */
  tool_approval_required: ToolApprovalRequest
  /** A person allowed the call or did not, or it ended by itself. */
  tool_approval_resolved: Attributed & {
    /** The approval. */
    readonly approval_id: string
    /** `always`: also the next calls of this tool. */
    readonly decision: ApprovalDecision
    /** Where it was decided. */
    readonly via: DecisionVia
    /** Why it ended without a person's word. */
    readonly reason?: ApprovalEnd
    /** What the person said. */
    readonly comment?: string
  }
  /** In `manage_todos`, the next task was handed to the model. */
  todos_resubmitting: {
    /** The title of the task. */
    readonly next: string
    /** The list, as `todos_updated` has it. */
    readonly state: Json
    /** Its number in the turn, from 1. */
    readonly iteration: number
    /** The maximum of a turn. */
    readonly max_iterations: number
  }
  /** In `manage_todos`, the turn has handed over as many tasks as it may. */
  todos_limit_reached: {
    /** The text for the person. */
    readonly message: string
    /** Open tasks of the plan. */
    readonly remaining: number
    /** The task in progress, as `todos_current` has it. */
    readonly current: Json
  }
  /** The model answered with open tasks and was sent back to them. */
  gate_followed: {
    /** Counts from 1 since a task was settled. */
    readonly follow_up: number
    /** Number and title of each open task. */
    readonly open: readonly Json[]
  }
  /** A task was created. */
  task_created: Attributed & {
    /** The whole task as it is now. */
    readonly task: Task
    readonly by: Actor
  }
  /** A task was changed. */
  task_changed: Attributed & {
    /** The whole task as it is now. */
    readonly task: Task
    readonly by: Actor
    /** The previous values of the changed fields. */
    readonly from: { readonly [field: string]: Json }
    /** Why the system changed it. */
    readonly reason?: string
  }
  /** A task was removed from the list. */
  task_removed: Attributed & {
    /** The whole task as it is now. */
    readonly task: Task
    readonly by: Actor
  }
  /** The assessor judged a claim about a task. */
  task_assessed: {
    readonly task_id: string
    readonly verdict: Verdict
    /** The assessor's words. */
    readonly reason: string
    /** The assessor's model. */
    readonly model: string
    readonly usage?: Usage
    /** A hash of the title, details, criteria and outcome that were judged. */
    readonly seal: string
    /** What an ok rests on: evidence that it names, evidence that it does not name, or words alone. */
    readonly rests?: VerdictBasis
    /** The evidence that it names, by id. */
    readonly cited?: readonly string[]
    /** A person changed the task meanwhile: it has no effect. */
    readonly fenced?: true
  }
  /** A person is asked to confirm new tasks. */
  task_create_review_required: Attributed & ReviewRequest
  /** A review was confirmed, cancelled or expired. */
  task_create_review_resolved: Resolution
  /**
   * A model says that a task is settled; it is checked and judged first.
   *
   * Nothing is granted before `claim_settled`.
   */
  claim_made: MadeClaim
  /** A claim was granted or refused. */
  claim_settled: {
    readonly claim_id: string
    readonly task_id: string
    /** Whether the task has the claimed status now. */
    readonly result: 'granted' | 'refused'
    /** What decided it. */
    readonly because: ClaimEnd
  }
  /** A check of a task may run: a person, or the configuration, approved exactly this content. */
  check_approved: Attributed & {
    readonly task_id: string
    readonly check_id: string
    /** Its content. */
    readonly hash: string
    /** How it was approved. */
    readonly via: 'review' | 'edit' | 'configuration'
  }
  /** A run was asked for, other than by a claim. */
  check_requested: Attributed &
    CheckRef & {
      /** When the plan was confirmed, before it ends, or because a person asked. */
      readonly why: Exclude<RunReason, 'claim'>
      /** Which of the runs before the plan ends it belongs to, from 1. */
      readonly pass?: number
    }
  /** A run began. */
  check_started: CheckRef & { readonly run_id: string; readonly why: RunReason; readonly claim_id?: string }
  /**
   * The process that made a run ended in good order. The next one makes it again.
   *
   * It does not count as a try.
   */
  check_handed_back: CheckRef & { readonly run_id: string; readonly why: RunReason; readonly claim_id?: string }
  /** A run ended. */
  check_ran: CheckRef & {
    readonly run_id: string
    readonly why: RunReason
    readonly claim_id?: string
    readonly result: CheckResult
    /** The exit code. */
    readonly exit?: number
    /** How long it took. */
    readonly duration_ms: number
    /** Why it is inconclusive. */
    readonly reason?: string
    /** It was not run: it is not what was approved any more. */
    readonly changed?: true
    /** The end of the output. */
    readonly tail?: string
    /** A hash of the whole output. */
    readonly output_sha256?: string
    /** A hash of the workspace. */
    readonly fingerprint?: string
    /** Guarded files that differ from those at confirmation. */
    readonly guarded?: readonly string[]
    /** A hash of how they differ. */
    readonly guard?: string
    /**
     * Guarded files that changed for other tasks of the plan with this check, or without `task_id` for the plan itself.
     *
     * Each has a confirmation of its own.
     */
    readonly others?: readonly OtherGuard[]
  }
  /** The guarded files were recorded, as they were when the plan was confirmed. */
  baseline_taken: {
    readonly plan_id: string
    /** The globs that were looked at, and the hashes of the checks. */
    readonly covers: readonly string[]
    /** Path to a hash of its content. */
    readonly files: { readonly [path: string]: string }
    /** Files that the check itself wrote before the work: `files` has them as they were after that. */
    readonly written?: readonly string[]
    /** There were too many to watch. */
    readonly incomplete?: true
    /** The files that a fingerprint covered then: if git is made to ignore one of them, there is no fingerprint. */
    readonly tracked?: TrackedFiles
  }
  /** A person accepted changes to guarded files. */
  guard_accepted: Attributed & {
    readonly task_id: string
    /** The files. */
    readonly paths: readonly string[]
    /** A hash of how they differ. */
    readonly guard: string
  }
  /** A person ticked a check. */
  check_ticked: Attributed & { readonly task_id: string; readonly check_id: string }
  /** A host or an agent elsewhere reported a call of a tool of its own. It proves nothing. */
  evidence_added: ToolFact & {
    /** The report. */
    readonly evidence_id: string
    readonly task_id: string
    /** Who says so. */
    readonly source: Exclude<EvidenceSource, 'run'>
  }
  /** A panel shows the review. */
  review_panel_opened: {
    readonly review_id: string
    /** The panel, by a name of its own. */
    readonly panel: string
  }
  /** A panel no longer shows the review. */
  review_panel_left: {
    readonly review_id: string
    /** The panel, by a name of its own. */
    readonly panel: string
  }
  /** A person gave the review more time. */
  review_extended: Attributed & {
    readonly review_id: string
    /** Its deadline from now on. */
    readonly expires_at: Instant
  }
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
    /** When it was committed; the events of a commit share it. */
    readonly timestamp: Instant
    /** Position in the log, from 1. */
    readonly seq: number
    readonly session_id: string
    /** The turn that it belongs to, if any. */
    readonly turn_id: string | null
    readonly data: EventData[K]
  }
}[T]

/** The version that events are stored with. Raise it when one means something else: other versions are refused. */
export const EVENT_VERSION = 2

/** The events that are history of tasks and reviews. The page has a sentence for each. */
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
  'guard_accepted',
  'check_ticked',
] as const satisfies readonly EventType[]

export type TimelineType = (typeof TIMELINE)[number]

/** The events that may record a decision: those whose data has a place for an origin. */
export type DecisionType = {
  [T in EventType]: 'origin' extends keyof EventData[T] ? T : never
}[EventType]

/** What was decided, for the audit record; undefined if it was no decision. `created`: the tasks that it wrote. */
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
  // A model's new tasks are written without a review only where the policy has decided so.
  task_created: ({ task, by }, created) => {
    if (by === 'system') return undefined
    return by === 'model' ? `${tasks(created)} written without review, from ${named(task)}` : `${named(task)} added`
  },
  task_changed: ({ task, by, from }) => {
    if (!isEdit(by)) return undefined
    if ('removed_at' in from) return `${named(task)} brought back`
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
  guard_accepted: ({ task_id, paths }) => `changes accepted for task ${task_id}: ${shortPaths(paths).join(', ')}`,
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
