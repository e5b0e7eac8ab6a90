import type { Check, Workspace } from './check.ts'
import type { Conversation } from './conversation.ts'
import type { AssessmentCommand } from './decide/assessment.ts'
import type { FilingCommand } from './decide/filing.ts'
import type { CheckCommand } from './decide/proof.ts'
import type { QueueCommand } from './decide/queue.ts'
import type { DecisionCommand } from './decide/reopened.ts'
import type { ReviewCommand } from './decide/reviews.ts'
import type { ClaimCommand } from './decide/settle.ts'
import type { TaskCommand } from './decide/tasks.ts'
import type { ApprovalCommand } from './decide/tool-approvals.ts'
import type { TurnCommand } from './decide/turns.ts'
import type { UndoCommand } from './decide/undo.ts'
import type { EventData, NewEvent } from './event.ts'
import type { SomeFields } from './fields.ts'
import type { Instant } from './instant.ts'
import type { PolicyPatch, ToolsetName } from './policy.ts'
import type { MadeClaim } from './proof.ts'
import type { Refusal } from './refusal.ts'

/** The host's messages that new tasks came from. */
export interface Sources {
  readonly source_user_message_id?: string | undefined
  readonly source_assistant_message_id?: string | undefined
}

/** A model's edit. */
export interface ModelEdit extends Sources {
  readonly create?: readonly NewTask[]
  readonly change?: readonly TaskChange[]
  readonly remove?: readonly TaskRemoval[]
  /** Each change is made or refused by itself. */
  readonly each?: true | undefined
  /** Agents elsewhere: a judge of ours rules on what it settles. */
  readonly judges?: boolean | undefined
  /** Checks of the model were left out. */
  readonly unchecked?: true | undefined
}

/** What a process knows of a claim that the log does not. */
export interface Learnt {
  /** The workspace of the plan that it would end. */
  readonly seen?: SeenWorkspace | undefined
  /** Why it does not wait any longer. */
  readonly ended?: 'no_workspace' | 'no_judge' | 'failed' | undefined
  /** The folder of its workspace does not exist any more. */
  readonly isGone?: boolean | undefined
}

/** Who asks for a review. */
export interface ReviewOrigin {
  readonly review_id: string
  readonly tool_call_id: string
  readonly toolset: ToolsetName
  readonly tool: string
  readonly call_hash?: string | undefined
  /** Commands of the workspace that a check may be picked from. */
  readonly commands?: readonly string[] | undefined
  /** The model sent checks that were left out. */
  readonly unchecked?: boolean | undefined
}

/** A new task. The caller generates its id, so that `decide` stays pure. */
export type NewTask = SomeFields & {
  readonly id: string
  /** The hashes of those of its checks that the configuration allows. */
  readonly allowed?: readonly string[] | undefined
}

/** A change to one listed task, by id or number. */
export interface TaskChange {
  readonly task: string | number
  readonly fields: SomeFields
  /** A person's If-Match. */
  readonly if_version?: number | undefined
  /** The hashes of checks of the task that the person approves. */
  readonly approve?: readonly string[] | undefined
  /** Refuse if the task is already settled, instead of treating the same status as a success. */
  readonly if_open?: boolean | undefined
}
export interface TaskRemoval {
  readonly task: string | number
  readonly if_version?: number | undefined
}

/** Facts of a run. They are recorded as long as their turn is not over. */
export type RunFact = Extract<
  NewEvent,
  {
    readonly type:
      | 'message_added'
      | 'step_finished'
      | 'tool_called'
      | 'tool_answered'
      | 'todos_resubmitting'
      | 'todos_limit_reached'
      | 'gate_followed'
  }
>
/** Everything that can be asked for. Every write goes through one of these; each lies beside the rule that decides it. */
export type Command =
  | TurnCommand
  | FilingCommand
  | QueueCommand
  | ApprovalCommand
  | TaskCommand
  | AssessmentCommand
  | DecisionCommand
  | ReviewCommand
  | UndoCommand
  | ClaimCommand
  | CheckCommand

/** How a turn of ours starts. */
export interface TurnStart {
  readonly model: string
  /** Where the model is reached, if a person may change that while the turn runs. */
  readonly endpoint?: string | undefined
  readonly policy?: PolicyPatch
  readonly host?: PolicyPatch
  readonly continue_turn_id?: string | undefined
  readonly workspace?: Workspace | undefined
  readonly done_checks?: readonly Check[] | undefined
}

/** An id for a turn that may have to be started. */
export interface NextTurn {
  readonly turn_id: string
}

/** A claim on a listed task. */
export type NewClaim = Omit<MadeClaim, 'tool_call_id' | 'basis' | 'held'>

/** A check of a task, for a person's command. */
export interface CheckTarget {
  readonly task: string | number
  readonly check_id: string
}

/** A workspace as a process that has it saw it. Without a fingerprint, everything in it counts as changed. */
export interface SeenWorkspace {
  readonly fingerprint?: string | undefined
}

/** What a run came to. */
export type RunOutcome = Omit<EventData['check_ran'], 'task_id' | 'check_id' | 'hash' | 'run_id' | 'why' | 'claim_id'>

export type CommandType = Command['type']
export type CommandOf<T extends CommandType> = Extract<Command, { readonly type: T }>

/** Decides a command: the events to commit, or a refusal. */
export type Decider<T extends CommandType> = (
  state: Conversation,
  command: CommandOf<T>,
  now: Instant,
) => readonly NewEvent[] | Refusal

/** The deciders of these commands, by type. */
export type Rules<C extends Command> = { readonly [T in C['type']]: Decider<T> }
