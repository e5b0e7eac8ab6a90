import type { Check, CheckSpec, CommandCheck, Workspace } from './check.ts'
import type { Decision } from './review-action.ts'
import type { ClaimEnd, Json, StoredEvent, Verdict } from './event.ts'
import type { EvidenceSource, LeftOut, ToolFact } from './evidence.ts'
import type { TaskFields } from './fields.ts'
import type { Instant } from './instant.ts'
import type { Policy, ToolsetName } from './policy.ts'
import type { CheckState } from './check-state.ts'
import type { Standing } from './standing.ts'
import type { QueuedMessage } from './queue.ts'
import type { ReviewRequest, SubmittedRow } from './review.ts'
import type { EDITABLE } from './row.ts'
import type { SessionMark } from './session-list.ts'
import type { Part } from './search-marks.ts'
import type { ApprovalDecision, ToolApproval, ToolChange } from './tool-approval.ts'
import type { AskFor, Ruling, ToolRule } from './tool-rules.ts'
import type { ConversationSnapshot } from './snapshot.ts'
import type { Task, TaskStatus } from './task.ts'
import type { Template } from './template.ts'
import type { Message } from './transcript.ts'
import type { TurnStatus } from './turn.ts'
import type { View } from './view.ts'

// HTTP answers, shared by server and client. `scripts/shapes.ts` makes the schemas of `http/` from these types.

/** A conversation, as lists show it. */
export interface Session {
  readonly session_id: string
  readonly title: string | null
  readonly seq: number
  readonly created_at: Instant
  /** When its log last grew. */
  readonly updated_at: Instant
  /** When something was last done in it; to name, pin or archive it does not count, nor does looking at it. */
  readonly active_at: Instant
  readonly pinned: boolean
  readonly archived: boolean
  /** A review waits, a turn of this server runs, or the latest turn failed. */
  readonly mark: SessionMark | null
}

/** How a check of a task stands. */
export interface CheckStanding {
  /** Whether it runs: a person, or the configuration, approved exactly this. */
  readonly approved: boolean
  /** How it stands now; `stale`: it passed before the workspace changed. */
  readonly state: CheckState
  /** How it stood when the plan was confirmed. */
  readonly baseline: 'failed' | 'passed' | 'not_run'
  /** Guarded files that changed: it proves nothing until a person accepts them. */
  readonly guarded?: readonly string[]
}
/** A check and how it stands. */
export type CheckView = Check & CheckStanding

/** A task, how its checks stand, and how far its completion can be trusted. */
export interface TaskView extends Omit<Task, 'checks'> {
  /** How to see whether it is done. */
  readonly checks?: readonly CheckView[]
  /** Of a completed task: a check proves it, a person settled it, the assessor accepted it, or it is the word of the model. */
  readonly standing?: Standing
  /** Why it stands so, for people. */
  readonly standing_reasons?: readonly string[]
}

/** A check as a caller sends it: a new one, or one as it was read. Its id and hash are never taken as they are. */
export type SentCheck = (Exclude<CheckSpec, CommandCheck> | SentCommand) &
  Partial<Pick<Check, 'id' | 'hash' | 'programs' | 'workspace'> & CheckStanding>
/** A command as its words, or as a command line, which is split without a shell. */
export type SentCommand = Omit<CommandCheck, 'run'> & { readonly run: CommandCheck['run'] | string }

/** The checks of a task as a caller sends them. */
export interface SentChecks {
  /** All of them: what a person writes anew is approved by that. */
  readonly checks?: readonly SentCheck[] | undefined
  /** Short for one command in `checks`: its command line, without a shell. */
  readonly check?: string | undefined
  /** The hashes of checks that the person approves. */
  readonly approve?: readonly string[] | undefined
  /** Globs of guarded files that the task may change. */
  readonly may_change?: readonly string[] | undefined
}
/** The fields of a task that a person can set. */
export type PersonsFields = {
  readonly [K in Exclude<(typeof EDITABLE)[number], keyof SentChecks>]?: TaskFields[K] | undefined
} & SentChecks
/** A row of a decision or a template as it is sent. */
export type SentRow = Omit<SubmittedRow, 'checks' | 'inserted'> & SentChecks
/** A decision as it is sent. */
export type SentDecision = Decision<SentRow>

/** A turn as the API shows it. */
export interface TurnView {
  readonly turn_id: string
  readonly status: TurnStatus
  readonly stop_requested: boolean
  /** Waits for a person's decision. */
  readonly parked: boolean
  readonly started_at: Instant
  /** The plan that it works on: the id of the turn that began it. */
  readonly plan_id: string
  /** Where its checks run. */
  readonly workspace?: Workspace
  /** The completed tasks of its plan by standing, if there are any. */
  readonly standings?: Readonly<Record<Standing, number>>
  /** A limit ended it. */
  readonly limit_reached?: true
}

/** A conversation with everything that a page shows of it. */
export interface SessionAnswer {
  readonly session: Session
  readonly policy: Policy | null
  readonly messages: readonly Message[]
  readonly turns: readonly TurnView[]
  readonly tasks: readonly TaskView[]
  readonly reviews: readonly ReviewRequest[]
  /** Messages that wait for the next model call, oldest first. */
  readonly queued: readonly QueuedMessage[]
  /** Calls of tools that wait for a person, oldest first. */
  readonly approvals: readonly ToolApproval[]
  readonly seq: number
}

/** A conversation to fold events on. Resume the stream with `conversation.seq` as `Last-Event-ID`. */
export interface SnapshotAnswer {
  readonly conversation: ConversationSnapshot
  readonly view: View
}

/** A conversation after a change to its name or its place. */
export interface FiledSessionAnswer {
  readonly session: Session
}

/** A page of conversations, newest first. */
export interface SessionsAnswer {
  readonly sessions: readonly Session[]
  /** For the next page; null on the last. */
  readonly next_cursor: string | null
  /** Older texts are still being indexed. */
  readonly indexing?: true
}
/** A page of tasks that match a search. */
export interface FoundTasksAnswer {
  readonly tasks: readonly TaskView[]
  /** For the next page; null on the last. */
  readonly next_cursor: string | null
  /** Older texts are still being indexed. */
  readonly indexing?: true
}
/** A page of the tasks of a conversation. */
export interface TasksAnswer {
  readonly tasks: readonly TaskView[]
  /** For the next page; null on the last. */
  readonly next_cursor: string | null
  readonly seq: number
}
/** What a search found: conversations by their title, then tasks, then messages. */
export interface SearchAnswer {
  readonly results: readonly SearchResult[]
  /** Older texts are still being indexed: there may be more. */
  readonly indexing: boolean
}
/** One thing that a search found, with its texts in parts: a page shows them as text and marks those that match. */
export type SearchResult = ConversationResult | TaskResult | MessageResult
/** A conversation whose title matches. */
export interface ConversationResult {
  readonly kind: 'conversation'
  readonly session_id: string
  readonly session_title: string | null
  readonly created_at: Instant
  /** The text in parts. */
  readonly title: readonly Part[]
}
/** A task whose title, details or outcome match. */
export interface TaskResult {
  readonly kind: 'task'
  readonly session_id: string
  readonly session_title: string | null
  readonly created_at: Instant
  readonly task_id: string
  readonly number: number
  /** Its progress. */
  readonly status: TaskStatus
  /** The text in parts. */
  readonly title: readonly Part[]
  /** The surroundings of the first match in parts; empty without one. */
  readonly excerpt: readonly Part[]
}
/** A message that matches. */
export interface MessageResult {
  readonly kind: 'message'
  readonly session_id: string
  readonly session_title: string | null
  readonly created_at: Instant
  readonly message_id: string
  readonly turn_id: string | null
  readonly role: 'user' | 'assistant'
  /** The surroundings of the first match in parts; empty without one. */
  readonly excerpt: readonly Part[]
}
/** A task after a change to it, and the seq of that change. */
export interface TaskAnswer {
  readonly task: TaskView
  readonly seq: number
}
/** The policy of a conversation after a change to it. */
export interface PolicyAnswer {
  readonly policy: Policy
  readonly seq: number
}
/** A turn after a request about it. */
export interface TurnAnswer {
  readonly turn: TurnView
  readonly seq: number
}
/** A message that waits, after a change to it; or as it was when it was taken back. */
export interface QueuedMessageAnswer {
  readonly message: QueuedMessage
  readonly seq: number
}
/** A message that was sent to the agent. */
export interface SentMessageAnswer extends QueuedMessageAnswer {
  /** The turn that it joins or starts. */
  readonly turn_id: string
  /** No turn was running, so this one was started. */
  readonly started?: true
}
/** A message that does not wait for the next model call. */
export interface SentNowAnswer {
  /** The turn that stops for the message, or that was started with it. */
  readonly turn_id: string
  /** No turn was running, so this one was started. */
  readonly started?: true
  readonly seq: number
}
/** A decided review. */
export interface DecisionAnswer {
  readonly review: ReviewRequest
  /** What the tool call that asked for the review answers. */
  readonly result: Json
  /** The turn that goes on with a reopened plan. */
  readonly turn_id?: string
}
/** A review after a person gave it more time. */
export interface ExtendAnswer {
  readonly review: ReviewRequest
}
/** A review that was opened again. */
export interface ReopenAnswer {
  /** The new review; it names the old one in `reopens`. */
  readonly review: ReviewRequest
}
/** One review, with its result once it is decided. */
export interface ReviewAnswer {
  /** Only the review that was asked for. */
  readonly reviews: readonly ReviewRequest[]
  /** Once it is decided. */
  readonly result?: Json
}
/** A page of the reviews that wait for a decision. */
export interface ReviewsAnswer {
  readonly reviews: readonly ReviewRequest[]
  /** The conversations that they belong to, each once. */
  readonly sessions: readonly Session[]
  /** With `origins=true`: where each came from. */
  readonly origins?: readonly ReviewOrigin[]
  /** With `approvals=true`: calls of tools that wait, oldest first, in the newest 200 conversations and the newest 200 archived ones. */
  readonly approvals?: readonly WaitingApproval[]
  /** For the next page; absent on the last. */
  readonly next_cursor?: string
}
/** When a review was opened, and for which agent. */
export interface ReviewOrigin {
  readonly review_id: string
  /** When it was opened. */
  readonly asked_at: Instant
  /** The model of a turn of this server. */
  readonly model?: string
  /** The program elsewhere that opened the turn and its folder. */
  readonly client?: string
}
/** A call of a tool that waits for a person in one of the conversations. */
export interface WaitingApproval
  extends Pick<ToolApproval, 'approval_id' | 'turn_id' | 'tool' | 'server' | 'server_tool' | 'asked_at'> {
  readonly session_id: string
}
/** A page of the log. */
export interface TimelineAnswer {
  readonly events: readonly StoredEvent[]
  readonly seq: number
}
/** One event of the log. */
export interface EventAnswer {
  readonly event: StoredEvent
}
/** What is known of how a task was worked on: each list in log order, the newest last. */
export interface EvidenceAnswer {
  readonly task_id: string
  readonly verdicts: readonly VerdictView[]
  readonly claims: readonly ClaimView[]
  readonly evidence: readonly EvidenceView[]
  /** Calls that are not listed, by tool. */
  readonly left_out: readonly LeftOut[]
  readonly seq: number
}
/** One answer of the assessor. */
export interface VerdictView {
  readonly at: Instant
  readonly verdict: Verdict
  /** The assessor's words. */
  readonly reason: string
  /** The assessor's model. */
  readonly model: string
  /** The ids of the evidence that it names. */
  readonly cited: readonly string[]
  /** An ok that names no evidence, although there was some. */
  readonly uncited?: true
  /** An ok without any evidence. */
  readonly on_words_alone?: true
  /** A person changed the task meanwhile: it had no effect. */
  readonly fenced?: true
  /** The claim that it is about. */
  readonly claim_id?: string
}
/** A model's word that the task is settled. */
export interface ClaimView {
  readonly claim_id: string
  readonly at: Instant
  /** What is claimed. */
  readonly status: 'completed' | 'cancelled'
  /** The result, in the words of the model. */
  readonly outcome?: string
  /** Absent while it is checked and judged. */
  readonly result?: 'granted' | 'refused'
  /** What decided it. */
  readonly because?: ClaimEnd
}
/** A tool call with its answer, in short if they are long. */
export interface EvidenceView extends ToolFact {
  /** What verdicts cite. */
  readonly id: string
  readonly at: Instant
  /** `run`: a turn of this server made the call; else who says so. */
  readonly source: EvidenceSource
  /** The event that has the answer. */
  readonly seq: number
}
/** A call of a tool of their own that a host or an agent reports. */
export interface SentEvidence {
  readonly tool: string
  /** Default: none. */
  readonly arguments?: Json | undefined
  /** Default: none. */
  readonly answer?: Json | undefined
  readonly ok: boolean
  /** Default: the task in progress. */
  readonly task_id?: string | undefined
}
/** Whether a report was stored, and for which task. */
export type EvidenceAdded =
  | { readonly stored: true; readonly evidence_id: string; readonly task_id: string; readonly seq: number }
  | {
      readonly stored: false
      /** A turn has at most 1,000. */
      readonly because: 'no_task_in_progress' | 'turn_is_full'
      readonly seq: number
    }

/** A tool call that was answered. */
export interface AnsweredCall {
  readonly result: Json
}
/** A tool call that waits for a review. Make the call again with the same id to get its answer. */
export interface PendingCall {
  readonly status: 'pending_review'
  readonly review_id: string
}
/** A tool call whose claims are being checked. Make the call again with the same id to get its answer. */
export interface CheckingCall {
  readonly status: 'checking'
  readonly claim_id: string
}
/** The answer to a tool call. */
export type ToolAnswer = AnsweredCall | PendingCall | CheckingCall
/** A toolset, its default policy and the names of its tools. */
export interface ToolsetSummary {
  readonly name: ToolsetName
  /** The policy of a new conversation that uses it. */
  readonly review: boolean
  readonly review_timeout_ms: number | null
  readonly assessor: boolean
  readonly gate: boolean
  readonly scope: 'turn' | 'conversation'
  readonly tools: readonly string[]
}
/** The definitions of a toolset and the section for the system prompt. */
export interface ToolsetAnswer {
  readonly name: ToolsetName
  readonly tools: readonly Json[]
  readonly prompt: string
}
/** Guidance for a model that called the planning tool in the wrong form. */
export interface RetryAnswer {
  readonly guidance: string
}
/** The toolsets that the server offers. */
export interface ToolsetsAnswer {
  /** The toolset of a new conversation that names none. */
  readonly default: ToolsetName
  readonly toolsets: readonly ToolsetSummary[]
}
/** A model that turns may name. */
export interface ModelView {
  readonly name: string
  readonly default: boolean
  /** The demo model, where it has a sandbox to act in. */
  readonly sandbox?: true
}
/** The models that turns may name. */
export interface ModelsAnswer {
  readonly models: readonly ModelView[]
}
/** The settings that a server keeps. */
export type SettingName = 'model' | 'base_url' | 'key' | 'assessor_model' | 'review' | 'review_timeout_ms' | 'gate'
/** Where the value of a setting comes from. The first that has one counts. */
export type SettingSource = 'flag' | 'environment' | 'page' | 'file' | 'default'
/** A setting as it counts now. */
export interface SettingView<T> {
  readonly value: T
  /** Where it comes from, by precedence. */
  readonly source: SettingSource
  /** The option or variable that fixes it. */
  readonly locked_by?: string
  /** What the page holds, if something takes precedence. */
  readonly saved?: T
}
/** The key of the model, which is never sent back. */
export interface KeyView {
  readonly is_set: boolean
  /** Where it comes from, by precedence. */
  readonly source: SettingSource
  /** The option or variable that fixes it. */
  readonly locked_by?: string
  /** The provider's own variable, if the key comes from there. */
  readonly variable?: string
  /** Its last four characters, if it has at least 20. */
  readonly ends_with?: string
}
/** All settings of a server. */
export interface SettingsView {
  /** `demo`, or `openai:NAME`, `anthropic:NAME`, `google:NAME` or `openai-compatible:NAME`. */
  readonly model: SettingView<string>
  /** Of the model's API; null: the provider's own. */
  readonly base_url: SettingView<string | null>
  /** The API key of the model, which is never sent back. */
  readonly key: KeyView
  /** The model that judges; null: the same. */
  readonly assessor_model: SettingView<string | null>
  /** The default toolset; review, deadline and gate are those of new conversations. */
  readonly toolset: SettingView<ToolsetName>
  /** Whether a person reviews plans in new conversations. */
  readonly review: SettingView<boolean>
  /** The deadline of their reviews; null: none. */
  readonly review_timeout_ms: SettingView<number | null>
  /** Whether the agent is kept at open tasks in new conversations. */
  readonly gate: SettingView<boolean>
}
/** Something about the settings that a person has to mend. */
export interface SettingsProblem {
  readonly field?: SettingName
  readonly message: string
}
/** The settings of the server, and where each comes from. */
export interface SettingsAnswer {
  /** Send it as If-Match. */
  readonly version: string
  /** `node`: other servers on the same database have their own. */
  readonly scope: 'server' | 'node'
  readonly settings: SettingsView
  readonly problems: readonly SettingsProblem[]
}
/** Where an MCP server stands. */
export type ToolServerState = 'connecting' | 'ready' | 'failed'

/** A tool of an MCP server, and what happens when a model calls it. */
export interface ServerToolView extends Pick<Ruling, 'rule' | 'source'> {
  /** As its server calls it. */
  readonly name: string
  readonly title?: string
  readonly description: string
  /** The server says that it changes nothing. */
  readonly read_only: boolean
  /** Send it with "always", which is bound to it. */
  readonly fingerprint: string
  /** It was always allowed, and has changed since: it is asked about again. */
  readonly changed?: ToolChange
  /** Too many tools are on: models do not get this one. */
  readonly left_out?: true
}

/** An MCP server whose tools the agent has. */
export interface ToolServerView {
  readonly name: string
  /** Its command line or URL, without secrets. */
  readonly target: string
  readonly kind: 'command' | 'url'
  /** The settings file that names it. */
  readonly file: string
  /** It is in the person's own file. */
  readonly removable: boolean
  /** Which calls are asked about where a person has set no rule. */
  readonly ask: AskFor
  readonly state: ToolServerState
  /** When it got there. */
  readonly since: Instant
  /** Why it failed. */
  readonly reason?: string
  readonly tools: readonly ServerToolView[]
}

/** The MCP servers and tools of the agent. */
export interface ToolsAnswer {
  /** `node`: other servers on the same database have their own. */
  readonly scope: SettingsAnswer['scope']
  readonly servers: readonly ToolServerView[]
  /** How many tools models get. */
  readonly offered: number
  /** The terminal command that adds one, the file that it writes, and a folder to suggest. */
  readonly add: { readonly command: string; readonly file: string; readonly folder: string }
  /** Why the settings file is not used as it is now. */
  readonly problem?: string
}

/** A rule for some tools of a server; null gives them back to the configuration. */
export interface ToolRuleChange {
  readonly server: string
  /** Null: as the configuration has it. */
  readonly rule: ToolRule | null
  /** "always" needs the fingerprint that the person saw. */
  readonly tools: readonly { readonly name: string; readonly fingerprint?: string | undefined }[]
}

/** A person's decision on a call that waits. */
export interface SentApproval {
  /** `always`: also the next calls, while the tool stays as it is. */
  readonly decision: ApprovalDecision
  /** For the agent. */
  readonly comment?: string | undefined
}

/** A call that was decided. */
export interface ApprovalAnswer {
  readonly approval_id: string
  readonly decision: ApprovalDecision
  /** Why "always" counts for this call only. */
  readonly not_saved?: string
  readonly seq: number
}
/** A change of settings: what is named is set, `unset` gives up what the page holds. */
export interface SettingsChange {
  /** Demo, openai:NAME, anthropic:NAME, google:NAME or openai-compatible:NAME. */
  readonly model?: string | undefined
  /** An http or https URL; another one erases the key. */
  readonly base_url?: string | undefined
  /** 8 to 500 characters; kept on the server, in a file for its owner only. */
  readonly key?: string | undefined
  /** Demo, openai:NAME, anthropic:NAME, google:NAME or openai-compatible:NAME. */
  readonly assessor_model?: string | undefined
  readonly review?: boolean | undefined
  readonly review_timeout_ms?: number | null | undefined
  readonly gate?: boolean | undefined
  /** What the page no longer sets. */
  readonly unset?: readonly SettingName[] | undefined
}
/** What one small call of a model came to. */
export type TryAnswer =
  | { readonly ok: true; readonly model: string; readonly duration_ms: number }
  | {
      readonly ok: false
      readonly model: string
      /** As of a turn that failed. */
      readonly code: string
      readonly message: string
      /** What a person can do about it. */
      readonly todo: string
      /** The URL that was tried. */
      readonly url?: string
    }
/** The saved templates. */
export interface TemplatesAnswer {
  readonly templates: readonly Template[]
}

/** What an error carries besides code and message; it depends on the code. */
export interface ErrorDetails {
  /** The row of the batch, counted from 0. */
  readonly row?: number
  readonly field?: string
  /** The task as it is now. */
  readonly task?: Task
  /** The queued message as it is now. */
  readonly queued?: QueuedMessage
  /** The task file at fault, as a path within the data folder. */
  readonly file?: string
  readonly [detail: string]: unknown
}
/** The body of an error response. */
export interface ErrorBody extends ErrorDetails {
  readonly code: string
  readonly message: string
}

/** Events that are sent but not stored: they have no `seq`, and readers cannot resume from them. */
export interface TransientEventData {
  /** The reader is ahead of the log. Discard what you have: the whole log follows. */
  reset: {
    /** The last event of the log. */
    readonly seq: number
  }
  /** More text of the running step. */
  text_delta: {
    readonly message_id: string
    /** What was written. */
    readonly text: string
  }
  /** The text of the running step so far, for readers that join late. */
  text_snapshot: {
    readonly message_id: string
    /** What was written. */
    readonly text: string
  }
  /** The list in view after a commit that touched it. */
  todos_updated: TodosView & {
    /** The tasks; the open ones first if there are more than 200. */
    readonly items: readonly Todo[]
    /** Tasks beyond the first 200. */
    readonly more?: number
  }
  /** The short form of `todos_updated`. */
  todos_current: TodosView
}
/** The plan in brief: the current task and what remains. */
export interface TodosView {
  /** The task in progress. */
  readonly current: Todo | null
  /** Open tasks of the plan. */
  readonly remaining: number
  /** Tasks in the list. */
  readonly total: number
  /** The last event that it includes. */
  readonly as_of_seq: number
}
/** A task in short. */
export interface Todo {
  /** The task's number. */
  readonly id: number
  /** Its title. */
  readonly description: string
  /** `pending`, `current`, `done` or `blocked`. */
  readonly status: string
}
/** An event that is sent and not stored. */
export type TransientEvent<T extends keyof TransientEventData = keyof TransientEventData> = {
  readonly [K in T]: {
    readonly type: K
    readonly timestamp: Instant
    readonly session_id: string
    readonly turn_id: string | null
    readonly data: TransientEventData[K]
  }
}[T]
