import type { Dispute } from '../proof/dispute.ts'
import type { Instant } from './instant.ts'
import type { Row } from './row.ts'

/** The status of a task. */
export type TaskStatus = 'pending' | 'in_progress' | 'completed' | 'blocked' | 'cancelled'
/** The urgency of a task. */
export type Priority = 'high' | 'medium' | 'low'
/** The author of a change. */
export type Actor = 'model' | 'person' | 'assessor' | 'file' | 'system'

/**
 * A task as it is stored.
 *
 * Optional fields are absent, never null, while they have no value.
 */
export interface Task extends Omit<Row, 'status'> {
  /** A UUIDv7. */
  readonly id: string
  /** Its number in the conversation, from 1. */
  readonly number: number
  readonly session_id: string
  /** The turn that created it. */
  readonly conversation_turn_id: string
  /** The plan that it belongs to: the id of the turn that began it. */
  readonly plan_id: string
  /** Its parent task. */
  readonly parent_id?: string
  /** The kind of agent it is for. */
  readonly agent_type?: string
  /**
   * Sorts the list; not a rank.
   *
   * A task moved between two others may be at 2.5.
   */
  readonly position: number
  /** Its status. */
  readonly status: TaskStatus
  /** The result. */
  readonly outcome?: string
  /** Its latest dispute. */
  readonly dispute?: Dispute
  /** The judge or person who settled it; null: the model. */
  readonly judged_by: 'assessor' | 'person' | null
  /** The creator: a model, a person, or a JSON file. */
  readonly created_by: 'tool' | 'user' | 'file'
  /** The host's id of the message that led to it. */
  readonly source_user_message_id?: string
  /** The host's id of the message that led to it. */
  readonly source_assistant_message_id?: string
  /** Its id in a JSON file, if not its number. */
  readonly file_id?: string
  /** Increases with each change; send it as If-Match. */
  readonly version: number
  /** The time it was created. */
  readonly created_at: Instant
  /** The time of its last change. */
  readonly updated_at: Instant
  /** The time it was first in progress. */
  readonly started_at?: Instant
  /** The time it was completed. */
  readonly completed_at?: Instant
  /** The time it was removed from the list. */
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

/** Requirements for a model to set a status: an outcome, and in a judged run the judge's consent. */
export const REQUIRES: Record<TaskStatus, { readonly outcome: boolean; readonly judge: boolean }> = {
  pending: { outcome: false, judge: false },
  in_progress: { outcome: false, judge: false },
  completed: { outcome: true, judge: true },
  blocked: { outcome: true, judge: false },
  cancelled: { outcome: false, judge: true },
}

/** The fields that define the work of a task. */
export const ASKED = ['title', 'details', 'criteria'] as const

/** The fields that a verdict covers. Its seal is a hash of them. */
export const SEALED = ['title', 'details', 'criteria', 'outcome'] as const

/** The only definition of open, for panel, gate, prompt and tools. */
export const isOpen = (task: { readonly status: TaskStatus }): boolean => OPEN[task.status]
export const isSettled = (task: { readonly status: TaskStatus }): boolean => !OPEN[task.status]

/** True if a model cancelled it, with or without the judge's consent. */
export const isGivenUp = ({ status, judged_by }: Task): boolean => status === 'cancelled' && judged_by !== 'person'

export const PRIORITIES: readonly Priority[] = ['high', 'medium', 'low']
// Marked as pure, so that a bundle without uses drops it.
export const STATUSES = /* @__PURE__ */ Object.keys(NEXT) as readonly TaskStatus[]

export const byPosition = (a: Task, b: Task): number => a.position - b.position || a.number - b.number
