import type { Check, Workspace } from './check.ts'
import type { Opinion } from './claim.ts'
import type { DecisionVia, EventData, NewEvent, StoredEvent, Usage } from './event.ts'
import type { ToolFact } from './evidence.ts'
import type { SomeFields } from './fields.ts'
import type { PolicyPatch, ToolsetName } from './policy.ts'
import type { Decision } from './review-action.ts'
import type { HeldCall, MadeClaim, RunReason } from './proof.ts'
import type { ApprovalDecision, ToolApprovalRequest } from './tool-approval.ts'
import type { EndReason } from './turn.ts'

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
type Fact = {
  readonly [T in RunFact['type']]: { readonly type: T; readonly data: Extract<RunFact, { type: T }>['data'] }
}[RunFact['type']]

/** Everything that can be asked for. Every write goes through one of these. */
export type Command =
  | {
      readonly type: 'set_policy'
      readonly by: 'person' | 'model'
      readonly policy: PolicyPatch
      readonly host?: PolicyPatch
    }
  | {
      /** A person names the conversation, or a model does, unless it has a name. */
      readonly type: 'set_title'
      readonly by: 'person' | 'model'
      readonly title: string
      readonly model?: string | undefined
      readonly usage?: Usage | undefined
    }
  | { readonly type: 'set_pinned'; readonly pinned: boolean }
  | { readonly type: 'set_archived'; readonly archived: boolean }
  | {
      /** A tool call of an agent elsewhere: opens its turn if it is new. */
      readonly type: 'open_turn'
      readonly turn_id: string
      /** The program that opens it and its folder, for people. */
      readonly client?: string | undefined
      /** The call makes a plan of its own, so it joins none. */
      readonly plans?: boolean
      /** The call only reads, so it joins none, either. */
      readonly reads?: boolean
      readonly toolset?: ToolsetName | undefined
      readonly host?: PolicyPatch
      /** Where the checks of a new turn run, and those that run before its plan ends. */
      readonly workspace?: Workspace | undefined
      readonly done_checks?: readonly Check[] | undefined
    }
  | {
      readonly type: 'start_turn'
      readonly turn_id: string
      readonly message_id: string
      readonly message: string
      readonly model: string
      /** Where the model is reached, if a person may change that while the turn runs. */
      readonly endpoint?: string | undefined
      readonly policy?: PolicyPatch
      readonly host?: PolicyPatch
      readonly continue_turn_id?: string | undefined
      readonly workspace?: Workspace | undefined
      readonly done_checks?: readonly Check[] | undefined
    }
  | { readonly type: 'stop_turn'; readonly turn_id: string }
  | { readonly type: 'record'; readonly turn_id: string; readonly fact: Fact }
  | {
      readonly type: 'finish_turn'
      readonly turn_id: string
      readonly because: EndReason
      readonly failure?: { readonly code: string; readonly message: string }
      readonly steps: number
      readonly usage: Usage
      /** The workspace of its plan. Absent: no process with it has looked. */
      readonly seen?: SeenWorkspace | undefined
      /** The turn that queued messages start. Absent: none. */
      readonly next?: NextTurn | undefined
    }
  | {
      /** A person writes to the agent of the running turn, or goes on with the latest one. */
      readonly type: 'queue_message'
      readonly message_id: string
      readonly text: string
      readonly next: NextTurn
    }
  | {
      readonly type: 'edit_queued'
      readonly message_id: string
      readonly text: string
      readonly if_version: number
    }
  | { readonly type: 'withdraw_queued'; readonly message_id: string; readonly if_version: number }
  | {
      /** A person does not want to wait for the next model call: stops the turn, and starts one with what waits. */
      readonly type: 'send_queued'
      readonly message_id: string
      readonly next: NextTurn
    }
  | {
      /** What waits becomes user messages of the running turn. */
      readonly type: 'deliver_queued'
      readonly turn_id: string
    }
  | {
      /** A call of a tool from outside has to be allowed first. */
      readonly type: 'ask_approval'
      readonly turn_id: string
      readonly approval: ToolApprovalRequest
    }
  | {
      readonly type: 'decide_approval'
      readonly approval_id: string
      readonly decision: ApprovalDecision
      readonly comment?: string | undefined
      readonly via: DecisionVia
    }
  | (ModelEdit & {
      /** Creates, changes and removes, in this order, all or nothing. */
      readonly type: 'edit_tasks'
      readonly by: 'model' | 'person' | 'file'
      /** The model's turn. New tasks of a person or a file join the running or latest turn. */
      readonly turn_id?: string
      /** The task ids, new ones included, in the order of the file. */
      readonly order?: readonly string[]
      /** The seq that a model's call was based on. Default: the newest tool answer. */
      readonly basis?: number | undefined
      /** Used when new tasks need a review. */
      readonly review?: ReviewOrigin
    })
  | (Opinion & {
      readonly type: 'assess_task'
      readonly turn_id: string
      readonly task: string | number
      /** A hash of what was judged. */
      readonly seal: string
      readonly basis?: number | undefined
    })
  | {
      readonly type: 'decide_review'
      readonly review_id: string
      readonly decision: Decision
      readonly via: DecisionVia
      /** Ids for the tasks that a confirm creates, at least one per row. */
      readonly ids: readonly string[]
      /** Ids for the turn that goes on with a reopened plan, if its turn is over. */
      readonly continuation?: { readonly turn_id: string; readonly message_id: string }
    }
  | {
      /** A person opens a review again that nobody decided. */
      readonly type: 'reopen_review'
      readonly review_id: string
      readonly new_review_id: string
    }
  | {
      /** A person gives a review with a deadline more time. */
      readonly type: 'extend_review'
      readonly review_id: string
      /** How long it waits from now, at least. Default: as long as it had at first. */
      readonly ms?: number | undefined
    }
  | {
      /** Takes back a person's change to a task, on a person's behalf. */
      readonly type: 'undo_change'
      /** The change, as the log has it. */
      readonly change: StoredEvent<'task_created' | 'task_changed' | 'task_removed'>
    }
  | {
      /** Stores the claims of a call, which waits until they are settled. */
      readonly type: 'make_claims'
      readonly turn_id: string
      readonly tool_call_id: string
      readonly basis: number
      readonly claims: readonly NewClaim[]
      readonly held: HeldCall
    }
  | ({
      /** Settles the claims of a call, and makes it. No events while a claim needs more. */
      readonly type: 'settle_call'
      readonly turn_id: string
      readonly tool_call_id: string
    } & Learnt)
  | {
      readonly type: 'start_check'
      readonly turn_id: string
      readonly run_id: string
      readonly hash: string
      readonly why: RunReason
    }
  | {
      readonly type: 'end_check'
      readonly turn_id: string
      readonly run_id: string
      readonly hash: string
      readonly outcome: RunOutcome
    }
  | { readonly type: 'hand_back_check'; readonly turn_id: string; readonly run_id: string; readonly hash: string }
  | {
      readonly type: 'request_final'
      readonly turn_id: string
      readonly fingerprint?: string | undefined
      /** Earlier final runs say nothing about this end. */
      readonly isNewEnd?: boolean | undefined
    }
  | ({ readonly type: 'take_baseline'; readonly turn_id: string } & EventData['baseline_taken'])
  | ({ readonly type: 'request_check' | 'stop_check' | 'tick_check' } & CheckTarget)
  | { readonly type: 'accept_guards'; readonly task: string | number; readonly paths: readonly string[] }
  | (ToolFact & {
      /** A host or an agent elsewhere reports a call of a tool of its own. */
      readonly type: 'add_evidence'
      readonly evidence_id: string
      readonly source: EventData['evidence_added']['source']
      /** Default: the task in progress. */
      readonly task?: string | number | undefined
    })
  | { readonly type: 'expire_review'; readonly review_id: string }
  | { readonly type: 'show_panel'; readonly review_id: string; readonly panel: string }
  | { readonly type: 'leave_panel'; readonly review_id: string; readonly panel: string }

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
