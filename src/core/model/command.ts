import type { Check, Workspace } from '../proof/check.ts'
import type { Conversation } from './conversation.ts'
import type { DisputeCommand } from '../decide/disputes.ts'
import type { AssessmentCommand } from '../decide/assessment.ts'
import type { FilingCommand } from '../decide/filing.ts'
import type { CheckCommand } from '../decide/proof.ts'
import type { QueueCommand } from '../decide/queue.ts'
import type { DecisionCommand } from '../decide/reopened.ts'
import type { ReviewCommand } from '../decide/reviews.ts'
import type { ClaimCommand } from '../decide/settle.ts'
import type { TaskCommand } from '../decide/tasks.ts'
import type { ApprovalCommand } from '../decide/tool-approvals.ts'
import type { TurnCommand } from '../decide/turns.ts'
import type { UndoCommand } from '../decide/undo.ts'
import type { EventData, NewEvent } from './event.ts'
import type { SomeFields } from './fields.ts'
import type { Instant } from './instant.ts'
import type { PolicyPatch, ToolsetName } from './policy.ts'
import type { MadeClaim } from '../proof/proof.ts'
import type { Refusal } from './refusal.ts'

/** Ids of the host's messages that led to new tasks. */
export interface Sources {
  readonly source_user_message_id?: string | undefined
  readonly source_assistant_message_id?: string | undefined
}

export interface ModelEdit extends Sources {
  readonly create?: readonly NewTask[]
  readonly change?: readonly TaskChange[]
  readonly remove?: readonly TaskRemoval[]
  /** Each change is made or refused on its own. */
  readonly each?: true | undefined
  /** An agent elsewhere whose claims our judge rules on. */
  readonly judges?: boolean | undefined
  readonly unchecked?: true | undefined
}

/** Facts about a claim that are known to this process but not in the log. */
export interface Learnt {
  readonly seen?: SeenWorkspace | undefined
  readonly ended?: 'no_workspace' | 'no_judge' | 'failed' | undefined
  readonly isGone?: boolean | undefined
}

export interface ReviewOrigin {
  readonly review_id: string
  readonly tool_call_id: string
  readonly toolset: ToolsetName
  readonly tool: string
  readonly call_hash?: string | undefined
  readonly commands?: readonly string[] | undefined
  readonly unchecked?: boolean | undefined
}

/** A new task. The caller generates its id, so that `decide` stays pure. */
export type NewTask = SomeFields & {
  readonly id: string
  /** Hashes of its checks that the configuration allows. */
  readonly allowed?: readonly string[] | undefined
  /** Globs beyond its `scope` that name files which decide its checks. They count once a person adds them to it. */
  readonly asks_scope?: readonly string[] | undefined
}

export interface TaskChange {
  readonly task: string | number
  readonly fields: SomeFields
  readonly if_version?: number | undefined
  /** Hashes of the task's checks that the person approves. */
  readonly approve?: readonly string[] | undefined
  /** Refuses if the task is already settled, instead of treating an equal status as success. */
  readonly if_open?: boolean | undefined
  /** A model disputes the task: `fields` has the reason as the outcome. */
  readonly disputes?: true | undefined
}
export interface TaskRemoval {
  readonly task: string | number
  readonly if_version?: number | undefined
}

/** Facts about a run. They are recorded until their turn ends. */
export type RunFact = NewEvent<
  | 'message_added'
  | 'step_finished'
  | 'tool_called'
  | 'tool_answered'
  | 'todos_resubmitting'
  | 'todos_limit_reached'
  | 'gate_followed'
>
/** Every write is one of these commands. Each is declared beside the rule that decides it. */
export type Command =
  | TurnCommand
  | FilingCommand
  | QueueCommand
  | ApprovalCommand
  | TaskCommand
  | AssessmentCommand
  | DisputeCommand
  | DecisionCommand
  | ReviewCommand
  | UndoCommand
  | ClaimCommand
  | CheckCommand

export interface TurnStart {
  readonly model: string
  /** The model's endpoint, set if a person may change it while the turn runs. */
  readonly endpoint?: string | undefined
  readonly policy?: PolicyPatch
  readonly host?: PolicyPatch
  readonly continue_turn_id?: string | undefined
  readonly workspace?: Workspace | undefined
  readonly done_checks?: readonly Check[] | undefined
}

export interface NextTurn {
  readonly turn_id: string
}

export type NewClaim = Omit<MadeClaim, 'tool_call_id' | 'basis' | 'held'>

export interface CheckTarget {
  readonly task: string | number
  readonly check_id: string
}

/** A workspace as a process with access saw it. Without a fingerprint, all of it counts as changed. */
export interface SeenWorkspace {
  readonly fingerprint?: string | undefined
}

export type RunOutcome = Omit<
  EventData['check_ran'],
  'task_id' | 'check_id' | 'hash' | 'run_id' | 'why' | 'claim_id'
> & {
  /** The record of the plan's files, if this run began it or added to it. */
  readonly record?: string | null
}

export type CommandType = Command['type']
export type CommandOf<T extends CommandType> = Extract<Command, { readonly type: T }>

export type Decider<T extends CommandType> = (
  state: Conversation,
  command: CommandOf<T>,
  now: Instant,
) => readonly NewEvent[] | Refusal

export type Rules<C extends Command> = { readonly [T in C['type']]: Decider<T> }
