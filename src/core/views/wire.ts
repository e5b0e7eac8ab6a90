import type { Check, CheckSpec, CommandCheck } from '../proof/check.ts'
import type { Dispute } from '../proof/dispute.ts'
import type { Decision } from '../model/review-action.ts'
import type { ClaimEnd, EventData, Json, StoredEvent } from '../model/event.ts'
import type { EvidenceSource, LeftOut, ToolFact } from '../proof/evidence.ts'
import type { TaskFields } from '../model/fields.ts'
import type { Instant } from '../model/instant.ts'
import type { Policy, ToolsetName } from '../model/policy.ts'
import type { CheckState } from '../proof/check-state.ts'
import type { FileChange } from '../proof/file-change.ts'
import type { Standing } from '../proof/standing.ts'
import type { QueuedMessage } from '../model/queue.ts'
import type { ReviewRequest, SubmittedRow } from '../model/review.ts'
import type { EDITABLE } from '../model/row.ts'
import type { SessionMark } from './session-list.ts'
import type { Part } from '../text/search.ts'
import type { ApprovalDecision, AskFor, Ruling, ToolApproval, ToolChange, ToolRule } from '../model/tool-approval.ts'
import type { ConversationSnapshot } from '../model/snapshot.ts'
import type { Task, TaskStatus } from '../model/task.ts'
import type { Template } from '../model/template.ts'
import type { Message } from './transcript.ts'
import type { Turn } from '../model/turn.ts'
import type { View } from './view.ts'

// HTTP answers, shared by server and client. `scripts/shapes.ts` makes the schemas of `http/` from these types.

/** A conversation in a list. */
export interface Session {
  readonly session_id: string
  readonly title: string | null
  readonly seq: number
  readonly created_at: Instant
  /** The time its log last grew. */
  readonly updated_at: Instant
  /** The time of its last activity; naming, pinning, archiving and viewing do not count. */
  readonly active_at: Instant
  readonly pinned: boolean
  readonly archived: boolean
  /** A review, a call or a dispute waits, a turn of this server runs, or the latest turn failed. */
  readonly mark: SessionMark | null
}

/** The status of a task's check. */
export interface CheckStanding {
  /** True if it may run: a person, or the configuration, approved exactly this content. */
  readonly approved: boolean
  /** Its current state; `stale`: it passed before the workspace changed. */
  readonly state: CheckState
  /** Its result when the plan was confirmed. */
  readonly baseline: 'failed' | 'passed' | 'not_run'
  /** Files that changed outside its scope: it proves nothing until a person accepts them. */
  readonly changes?: readonly FileChange[]
}
/** A check and its status. */
export type CheckView = Check & CheckStanding

/** A task, the status of its checks, and how far its completion can be trusted. */
export interface TaskView extends Omit<Task, 'checks'> {
  /** Checks that prove it is done. */
  readonly checks?: readonly CheckView[]
  /**
   * The evidence behind a completed task: a check proves it, a person settled it, the judge accepted it, or only the
   * model says so.
   */
  readonly standing?: Standing
  /** The reasons for the standing, for people. */
  readonly standing_reasons?: readonly string[]
}

/** A check as a caller sends it: a new one, or one as it was read. The server computes id and hash itself. */
export type SentCheck = (Exclude<CheckSpec, CommandCheck> | SentCommand) &
  Partial<Pick<Check, 'id' | 'hash' | 'programs' | 'workspace'> & CheckStanding>
/** A command as its words, or as a command line, which is split without a shell. */
export type SentCommand = Omit<CommandCheck, 'run'> & { readonly run: CommandCheck['run'] | string }

/** The checks of a task as a caller sends them. */
export interface SentChecks {
  /** All checks of the task; those that a person writes anew are approved by that. */
  readonly checks?: readonly SentCheck[] | undefined
  /** Short for one command in `checks`: its command line, split without a shell. */
  readonly check?: string | undefined
  /** The hashes of checks, and the globs of the proposed scope, that the person approves. */
  readonly approve?: readonly string[] | undefined
  /** Globs of the files that its step may change. */
  readonly scope?: readonly string[] | undefined
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
export interface TurnView extends Pick<Turn, 'status' | 'stop_requested' | 'started_at' | 'plan_id' | 'workspace'> {
  readonly turn_id: string
  /** It waits for a person's decision. */
  readonly parked: boolean
  /** The completed tasks of its plan by standing, if there are any. */
  readonly standings?: Readonly<Record<Standing, number>>
  /** A limit ended it. */
  readonly limit_reached?: true
}

/** A conversation with all that a page shows of it. */
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

/** A conversation after a change to its title, pin or archive. */
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
/** The results of a search: conversations by their title, then tasks, then messages. */
export interface SearchAnswer {
  readonly results: readonly SearchResult[]
  /** Older texts are still being indexed: there may be more. */
  readonly indexing: boolean
}
/** One search result, with its texts in parts: a page shows them as text and highlights the matching ones. */
export type SearchResult = ConversationResult | TaskResult | MessageResult
/** A conversation whose title matches. */
export interface ConversationResult extends Found {
  readonly kind: 'conversation'
  /** The text in parts. */
  readonly title: readonly Part[]
}
/** A task whose title, details or outcome match. */
export interface TaskResult extends Found {
  readonly kind: 'task'
  readonly task_id: string
  readonly number: number
  /** Its status. */
  readonly status: TaskStatus
  /** The text in parts. */
  readonly title: readonly Part[]
  /** The text around the first match in parts; empty without one. */
  readonly excerpt: readonly Part[]
}
/** A message that matches. */
export interface MessageResult extends Found {
  readonly kind: 'message'
  readonly message_id: string
  readonly turn_id: string | null
  readonly role: 'user' | 'assistant'
  /** The text around the first match in parts; empty without one. */
  readonly excerpt: readonly Part[]
}
/** The conversation of a search result, and the time of what matches. */
export interface Found {
  readonly session_id: string
  readonly session_title: string | null
  readonly created_at: Instant
}
/** A task after a change to it, and the seq of that change. */
export interface TaskAnswer {
  readonly task: TaskView
  readonly seq: number
}
/** A disputed task that is to be done as it is asked. */
export interface InsistAnswer extends TaskAnswer {
  /** The turn that goes on with it, if the one that disputed it was of this server and is over. */
  readonly turn_id?: string
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
/** A queued message after a change to it, or as it was when it was withdrawn. */
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
/** A message that is sent without waiting for the next model call. */
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
  /** The answer of the tool call that asked for the review. */
  readonly result: Json
  /** The turn that continues a reopened plan. */
  readonly turn_id?: string
}
/** A review after a person gave it more time. */
export interface ExtendAnswer {
  readonly review: ReviewRequest
}
/** A reopened review. */
export interface ReopenAnswer {
  /** The new review; it names the old one in `reopens`. */
  readonly review: ReviewRequest
}
/** One review, with its result once it is decided. */
export interface ReviewAnswer {
  /** Only the requested review. */
  readonly reviews: readonly ReviewRequest[]
  /** Present once it is decided. */
  readonly result?: Json
}
/** A page of the reviews that wait for a decision. */
export interface ReviewsAnswer {
  readonly reviews: readonly ReviewRequest[]
  /** The conversations that they belong to, each once. */
  readonly sessions: readonly Session[]
  /** With `origins=true`: the agent and the time of each review. */
  readonly origins?: readonly ReviewOrigin[]
  /**
   * With `approvals=true`: tool calls that wait, oldest first, in the newest 200 conversations and the newest 200
   * archived ones.
   */
  readonly approvals?: readonly WaitingApproval[]
  /** With `approvals=true`: disputes that wait, oldest first, in the same conversations. */
  readonly disputes?: readonly WaitingDispute[]
  /** For the next page; absent on the last. */
  readonly next_cursor?: string
}
/** The time at which a review was opened, and its agent. */
export interface ReviewOrigin {
  readonly review_id: string
  /** The time at which it was opened. */
  readonly asked_at: Instant
  /** The model of a turn of this server. */
  readonly model?: string
  /** The program elsewhere that opened the turn and its folder. */
  readonly client?: string
}
/** A tool call that waits for a person in one of the conversations. */
export interface WaitingApproval
  extends Pick<ToolApproval, 'approval_id' | 'turn_id' | 'tool' | 'server' | 'server_tool' | 'asked_at'> {
  readonly session_id: string
}
/** A disputed task that waits for a person in one of the conversations. */
export interface WaitingDispute extends Pick<Dispute, 'reason' | 'by' | 'at' | 'count'> {
  readonly session_id: string
  readonly task_id: string
  /** The title of the task. */
  readonly title: string
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
/** The evidence of the work on a task: each list in log order, newest last. */
export interface EvidenceAnswer {
  readonly task_id: string
  readonly verdicts: readonly VerdictView[]
  readonly claims: readonly ClaimView[]
  readonly evidence: readonly EvidenceView[]
  /** Calls that are not listed, by tool. */
  readonly left_out: readonly LeftOut[]
  readonly seq: number
}
/** One answer of the judge. */
export interface VerdictView
  extends Pick<EventData['task_assessed'], 'verdict' | 'reason' | 'model' | 'fenced' | 'hidden'> {
  readonly at: Instant
  /** The ids of the evidence that it cites. */
  readonly cited: readonly string[]
  /** An ok that cites no evidence, although there was some. */
  readonly uncited?: true
  /** An ok without any evidence. */
  readonly on_words_alone?: true
  /** The claim that it is about. */
  readonly claim_id?: string
}
/** A model's claim that the task is settled. */
export interface ClaimView {
  readonly claim_id: string
  readonly at: Instant
  /** The claimed status. */
  readonly status: 'completed' | 'cancelled'
  /** The outcome, in the words of the model. */
  readonly outcome?: string
  /** Absent while it is checked and judged. */
  readonly result?: 'granted' | 'refused'
  /** The reason for the result. */
  readonly because?: ClaimEnd
}
/** A tool call with its answer, shortened if they are long. */
export interface EvidenceView extends ToolFact {
  /** The id that verdicts cite. */
  readonly id: string
  readonly at: Instant
  /** `run`: a turn of this server made the call; otherwise the reporter. */
  readonly source: EvidenceSource
  /** The event that has the answer. */
  readonly seq: number
}
/** A call that a host or an agent reports of one of its own tools. */
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
/** The result of a report: stored for a task, or not stored. */
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
/** A tool call that waits for a review. Repeat it with the same id to get its answer. */
export interface PendingCall {
  readonly status: 'pending_review'
  readonly review_id: string
}
/** A tool call whose checks are running. Repeat it with its `tool_call_id` to get the answer. */
export interface CheckingCall {
  readonly status: 'checking'
  readonly claim_id: string
  /** Ours, if the call had none. */
  readonly tool_call_id?: string
}
/** A tool call that has no answer yet. */
export type WaitingCall = PendingCall | CheckingCall
/** The answer to a tool call. */
export type ToolAnswer = AnsweredCall | WaitingCall
/** A toolset, its default policy and the names of its tools. */
export interface ToolsetSummary {
  readonly name: ToolsetName
  /** True: with the toolset's defaults, a person reviews new tasks. */
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
  /** Set for the demo model if it has a sandbox to act in. */
  readonly sandbox?: true
}
/** The models that turns may name. */
export interface ModelsAnswer {
  readonly models: readonly ModelView[]
}
/** The settings that a server keeps. */
export type SettingName = 'model' | 'base_url' | 'key' | 'assessor_model' | 'review' | 'review_timeout_ms' | 'gate'
/** The source of a setting's value, by precedence. */
export type SettingSource = 'flag' | 'environment' | 'page' | 'file' | 'default'
/** The effective value of a setting. */
export interface SettingView<T> {
  readonly value: T
  /** Its source, by precedence. */
  readonly source: SettingSource
  /** The option or variable that fixes it. */
  readonly locked_by?: string
  /** The value saved from the page, if another source takes precedence. */
  readonly saved?: T
}
/** The key of the model, which is never sent back. */
export interface KeyView {
  readonly is_set: boolean
  /** Its source, by precedence. */
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
  /** The base URL of the model's API; null: the provider's own. */
  readonly base_url: SettingView<string | null>
  /** The API key of the model, which is never sent back. */
  readonly key: KeyView
  /** The judge's model; null: the same as the worker's. */
  readonly assessor_model: SettingView<string | null>
  /** The default toolset; review, timeout and gate are those of new conversations. */
  readonly toolset: SettingView<ToolsetName>
  /** True: a person reviews plans in new conversations. */
  readonly review: SettingView<boolean>
  /** The timeout of their reviews; null: none. */
  readonly review_timeout_ms: SettingView<number | null>
  /** True: the gate sends the agent back to open tasks in new conversations. */
  readonly gate: SettingView<boolean>
}
/** A problem with the settings that a person has to fix. */
export interface SettingsProblem {
  readonly field?: SettingName
  readonly message: string
}
/** The settings of the server, and the source of each. */
export interface SettingsAnswer {
  /** Send it as If-Match. */
  readonly version: string
  /** `node`: other servers on the same database have their own. */
  readonly scope: 'server' | 'node'
  readonly settings: SettingsView
  readonly problems: readonly SettingsProblem[]
}
/** The connection state of an MCP server. */
export type ToolServerState = 'connecting' | 'ready' | 'failed'

/** A tool of an MCP server, and the rule for calls of it. */
export interface ServerToolView extends Pick<Ruling, 'rule' | 'source'> {
  /** Its name on its server. */
  readonly name: string
  readonly title?: string
  readonly description: string
  /** The server says that it changes nothing. */
  readonly read_only: boolean
  /** Send it with "always", which is bound to it. */
  readonly fingerprint: string
  /** It was always allowed, but has changed since, so a person is asked again. */
  readonly changed?: ToolChange
  /** Too many tools are on, so models do not get this one. */
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
  /** True if it is in the person's own file. */
  readonly removable: boolean
  /** The calls that need approval where a person has set no rule. */
  readonly ask: AskFor
  readonly state: ToolServerState
  /** The time at which it reached this state. */
  readonly since: Instant
  /** The reason it failed. */
  readonly reason?: string
  readonly tools: readonly ServerToolView[]
}

/** The MCP servers and tools of the agent. */
export interface ToolsAnswer {
  /** `node`: other servers on the same database have their own. */
  readonly scope: SettingsAnswer['scope']
  readonly servers: readonly ToolServerView[]
  /** The number of tools that models get. */
  readonly offered: number
  /** The terminal command that adds a server, the file that it writes, and a suggested folder. */
  readonly add: { readonly command: string; readonly file: string; readonly folder: string }
  /** The reason the current settings file is not used. */
  readonly problem?: string
}

/** A rule for some tools of a server; null returns them to the configuration. */
export interface ToolRuleChange {
  readonly server: string
  /** Null: as configured. */
  readonly rule: ToolRule | null
  /** "always" needs the fingerprint that the person saw. */
  readonly tools: readonly { readonly name: string; readonly fingerprint?: string | undefined }[]
}

/** A person's decision on a waiting tool call. */
export interface SentApproval {
  /** `always`: also future calls, while the tool stays the same. */
  readonly decision: ApprovalDecision
  /** A comment for the agent. */
  readonly comment?: string | undefined
}

/** A decided tool call. */
export interface ApprovalAnswer {
  readonly approval_id: string
  readonly decision: ApprovalDecision
  /** The reason "always" counts for this call only. */
  readonly not_saved?: string
  readonly seq: number
}
/** A change of settings: named ones are set, `unset` clears the values saved from the page. */
export interface SettingsChange {
  /** `demo`, `openai:NAME`, `anthropic:NAME`, `google:NAME` or `openai-compatible:NAME`. */
  readonly model?: string | undefined
  /** An http or https URL; another one erases the key. */
  readonly base_url?: string | undefined
  /** 8 to 500 characters; kept on the server, in a file for its owner only. */
  readonly key?: string | undefined
  /** `demo`, `openai:NAME`, `anthropic:NAME`, `google:NAME` or `openai-compatible:NAME`. */
  readonly assessor_model?: string | undefined
  readonly review?: boolean | undefined
  readonly review_timeout_ms?: number | null | undefined
  readonly gate?: boolean | undefined
  /** Settings to clear from the page's saved values. */
  readonly unset?: readonly SettingName[] | undefined
}
/** The result of a test call of a model. */
export type TryAnswer =
  | { readonly ok: true; readonly model: string; readonly duration_ms: number }
  | {
      readonly ok: false
      readonly model: string
      /** The code of a failed turn. */
      readonly code: string
      readonly message: string
      /** The remedy, for a person. */
      readonly todo: string
      /** The URL that was tried. */
      readonly url?: string
    }
/** The saved templates. */
export interface TemplatesAnswer {
  readonly templates: readonly Template[]
}

/** The details of an error besides code and message; they depend on the code. */
export interface ErrorDetails {
  /** The row of the batch, counted from 0. */
  readonly row?: number
  readonly field?: string
  /** The task in its current state. */
  readonly task?: Task
  /** The queued message in its current state. */
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
    /** The added text. */
    readonly text: string
  }
  /** The text of the running step so far, for readers that join late. */
  text_snapshot: {
    readonly message_id: string
    /** The text of the step so far. */
    readonly text: string
  }
  /** The list in view after a commit that touched it. */
  todos_updated: TodosView & {
    /** The tasks; open ones first if there are more than 200. */
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
  /** The number of open tasks in the plan. */
  readonly remaining: number
  /** The number of tasks in the list. */
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
