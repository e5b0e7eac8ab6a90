import type { Json } from './event.ts'
import type { Instant } from './instant.ts'
import type { Policy, Toolset } from './policy.ts'
import type { TaskName } from './refusal.ts'
import type { ReviewRequest } from './review.ts'
import type { Task } from './task.ts'
import type { Message } from './transcript.ts'
import type { TurnStatus } from './turn.ts'

/** What HTTP answers, for those who serve it and those who ask. Types only: the rules are elsewhere. */

export interface Session {
  readonly session_id: string
  readonly title: string | null
  readonly seq: number
  readonly created_at: Instant
  readonly updated_at: Instant
}

export interface TurnView {
  readonly turn_id: string
  readonly status: TurnStatus
  readonly stop_requested: boolean
  /** Waits for a person's decision. */
  readonly parked: boolean
  readonly started_at: Instant
  /** Tasks that other turns made and that are in this one's plan now. */
  readonly adopted: readonly string[]
  /** How many tasks of its plan were removed. */
  readonly removed: number
  /** A limit ended it. */
  readonly limit_reached?: true
}

export interface SessionAnswer {
  readonly session: Session
  readonly policy: Policy | null
  readonly messages: readonly Message[]
  readonly turns: readonly TurnView[]
  readonly tasks: readonly Task[]
  readonly reviews: readonly ReviewRequest[]
  readonly seq: number
  /** Which panels show the reviews that wait, and when one is over because all have left. */
  readonly panels: {
    readonly [review: string]: { readonly panels: readonly string[]; readonly closes_at: Instant | null }
  }
  /** The newest answer that the agent got, and what persons edited when: together they tell what it does not know yet. */
  readonly answered_seq: number
  readonly edits: { readonly [task: string]: { readonly [field: string]: number } }
}

export interface SessionsAnswer {
  readonly sessions: readonly Session[]
  readonly next_cursor: string | null
}
export interface TasksAnswer {
  readonly tasks: readonly Task[]
  readonly next_cursor: string | null
}
export interface TaskAnswer {
  readonly task: Task
  readonly seq: number
}
export interface PolicyAnswer {
  readonly policy: Policy
  readonly seq: number
}
export interface TurnAnswer {
  readonly turn: TurnView
  readonly seq: number
}
export interface DecisionAnswer {
  readonly review: ReviewRequest
  /** What the tool that asked answers. */
  readonly result: Json
}
export interface ReviewAnswer {
  /** The one that was asked for. */
  readonly reviews: readonly ReviewRequest[]
  readonly result?: Json
}
export type ToolAnswer = { readonly result: Json } | { readonly status: 'pending_review'; readonly review_id: string }
export interface ToolsetSummary {
  readonly name: Toolset
  readonly review: boolean
  readonly assessor: boolean
  readonly gate: boolean
  readonly scope: 'turn' | 'conversation'
  readonly tools: readonly string[]
}
export interface ToolsetAnswer {
  readonly name: Toolset
  readonly tools: readonly Json[]
  readonly prompt: string
}
export interface ModelView {
  readonly name: string
  readonly default: boolean
}
/** An error: its code and message, and the facts of the refusal, such as `row`, `field`, `rule`, `limit` or `task`. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly row?: number
  readonly field?: string
  readonly task?: Task | TaskName
  readonly [fact: string]: unknown
}
