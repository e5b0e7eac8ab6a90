import type { Json, StoredEvent } from './event.ts'
import type { Instant } from './instant.ts'
import type { Policy, ToolsetName } from './policy.ts'
import type { ReviewRequest } from './review.ts'
import type { ConversationSnapshot } from './snapshot.ts'
import type { Task } from './task.ts'
import type { Template } from './template.ts'
import type { Message } from './transcript.ts'
import type { TurnStatus } from './turn.ts'
import type { View } from './view.ts'

/** HTTP answers, shared by server and client. Types only; `http/` has a schema for each. */

export interface Session {
  readonly session_id: string
  readonly title: string | null
  readonly seq: number
  readonly created_at: Instant
  readonly updated_at: Instant
}

/** A turn as the API shows it. */
export interface TurnView {
  readonly turn_id: string
  readonly status: TurnStatus
  readonly stop_requested: boolean
  /** It waits for a review. */
  readonly parked: boolean
  readonly started_at: Instant
  /** Ids of tasks that other turns created and this turn's plan adopted. */
  readonly adopted: readonly string[]
  /** The number of tasks that were removed from its plan. */
  readonly removed: number
  /** The turn whose open tasks it adopted. */
  readonly continues?: string
  /** A limit ended it. */
  readonly limit_reached?: true
}

/** A conversation with everything that a page shows of it. */
export interface SessionAnswer {
  readonly session: Session
  readonly policy: Policy | null
  readonly messages: readonly Message[]
  readonly turns: readonly TurnView[]
  readonly tasks: readonly Task[]
  readonly reviews: readonly ReviewRequest[]
  readonly seq: number
}

/** A conversation to fold events on. Resume the stream with `conversation.seq` as `Last-Event-ID`. */
export interface SnapshotAnswer {
  readonly conversation: ConversationSnapshot
  readonly view: View
}

/** A page of conversations, newest first. */
export interface SessionsAnswer {
  readonly sessions: readonly Session[]
  readonly next_cursor: string | null
}
/** A page of tasks that match a search. */
export interface FoundTasksAnswer {
  readonly tasks: readonly Task[]
  readonly next_cursor: string | null
}
/** A page of the tasks of a conversation. */
export interface TasksAnswer extends FoundTasksAnswer {
  readonly seq: number
}
/** A task after a change to it, and the seq of that change. */
export interface TaskAnswer {
  readonly task: Task
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
/** A decided review. */
export interface DecisionAnswer {
  readonly review: ReviewRequest
  /** What the tool call that asked for the review answers. */
  readonly result: Json
  /** The turn that goes on with a reopened plan. */
  readonly turn_id?: string
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
  /** For the next page; absent on the last. */
  readonly next_cursor?: string
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
/** A tool call that was answered. */
export interface AnsweredCall {
  readonly result: Json
}
/** A tool call that waits for a review. Make the call again with the same id to get its answer. */
export interface PendingCall {
  readonly status: 'pending_review'
  readonly review_id: string
}
/** The answer to a tool call. */
export type ToolAnswer = AnsweredCall | PendingCall
/** A toolset, its default policy and the names of its tools. */
export interface ToolsetSummary {
  readonly name: ToolsetName
  readonly review: boolean
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
  readonly toolsets: readonly ToolsetSummary[]
}
/** A model that turns may name. */
export interface ModelView {
  readonly name: string
  readonly default: boolean
}
/** The models that turns may name. */
export interface ModelsAnswer {
  readonly models: readonly ModelView[]
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
  reset: { readonly seq: number }
  text_delta: { readonly message_id: string; readonly text: string }
  text_snapshot: { readonly message_id: string; readonly text: string }
  todos_updated: TodosView & { readonly items: readonly Todo[]; readonly more?: number }
  todos_current: TodosView
}
/** The plan in brief: the current task and what remains. */
export interface TodosView {
  readonly current: Todo | null
  readonly remaining: number
  readonly total: number
  readonly as_of_seq: number
}
/** A task in brief. */
export interface Todo {
  /** The task's number. */
  readonly id: number
  readonly description: string
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
