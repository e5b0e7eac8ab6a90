import type { Check } from './check.ts'
import type { Instant } from './instant.ts'

/** Where a task stands. */
export type TaskStatus = 'pending' | 'in_progress' | 'completed' | 'blocked' | 'cancelled'
/** How urgent a task is. */
export type Priority = 'high' | 'medium' | 'low'
export type Actor = 'model' | 'person' | 'assessor' | 'file' | 'system'

/** A task as it is stored, sent and shown. Optional fields are absent, never null, while they have no value. */
export interface Task {
  readonly id: string
  readonly number: number
  readonly session_id: string
  readonly conversation_turn_id: string
  /** The plan that it belongs to. */
  readonly plan_id: string
  readonly parent_id?: string
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly agent_type?: string
  readonly priority: Priority
  /** Orders the conversation's list. Not a rank: a task moved between two others may be at 2.5. */
  readonly position: number
  readonly tags: readonly string[]
  readonly status: TaskStatus
  readonly outcome?: string
  readonly judged_by: 'assessor' | 'person' | null
  readonly created_by: 'tool' | 'user' | 'file'
  readonly source_user_message_id?: string
  readonly source_assistant_message_id?: string
  /** Its id in another program's JSON file, if that is not its number. */
  readonly file_id?: string
  readonly checks?: readonly Check[]
  /** Guarded files that this task may change. */
  readonly may_change?: readonly string[]
  readonly version: number
  readonly created_at: Instant
  readonly updated_at: Instant
  readonly started_at?: Instant
  readonly completed_at?: Instant
  readonly removed_at?: Instant
}

/** The allowed transitions. The only such table. */
export const NEXT: Record<TaskStatus, readonly TaskStatus[]> = {
  pending: ['in_progress', 'completed', 'blocked', 'cancelled'],
  in_progress: ['pending', 'completed', 'blocked', 'cancelled'],
  blocked: ['pending', 'in_progress', 'completed', 'cancelled'],
  completed: ['pending'],
  cancelled: ['pending'],
}

const OPEN: Record<TaskStatus, boolean> = {
  pending: true,
  in_progress: true,
  completed: false,
  blocked: false,
  cancelled: false,
}

/** What a model needs to set a status: an outcome, and in a judged run the assessor's consent. */
export const REQUIRES: Record<TaskStatus, { readonly outcome: boolean; readonly judge: boolean }> = {
  pending: { outcome: false, judge: false },
  in_progress: { outcome: false, judge: false },
  completed: { outcome: true, judge: true },
  blocked: { outcome: true, judge: false },
  cancelled: { outcome: false, judge: true },
}

/** The fields that say what a task asks for. */
export const ASKED = ['title', 'details', 'criteria'] as const

/** What people change in a task; other fields follow from these. */
export const EDITABLE = [
  'title',
  'details',
  'criteria',
  'priority',
  'tags',
  'status',
  'outcome',
  'position',
  'checks',
  'may_change',
] as const satisfies readonly (keyof Task)[]

/** The fields that a verdict is about. Its seal is a hash of them. */
export const SEALED = ['title', 'details', 'criteria', 'outcome'] as const

/** The only definition of open, for panel, gate, prompt and tools. */
export const isOpen = (task: { readonly status: TaskStatus }): boolean => OPEN[task.status]
export const isSettled = (task: { readonly status: TaskStatus }): boolean => !OPEN[task.status]

/** Whether a model cancelled it, with or without the assessor's consent. */
export const isGivenUp = ({ status, judged_by }: Task): boolean => status === 'cancelled' && judged_by !== 'person'

export const PRIORITIES: readonly Priority[] = ['high', 'medium', 'low']
// Marked as pure: a bundle that does not use it goes without.
export const STATUSES = /* @__PURE__ */ Object.keys(NEXT) as readonly TaskStatus[]

export const byPosition = (a: Task, b: Task): number => a.position - b.position || a.number - b.number
