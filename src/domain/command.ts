import type { DecisionVia, NewEvent, Usage, Verdict } from './event.ts'
import type { SomeFields } from './fields.ts'
import type { PolicyPatch, Toolset } from './policy.ts'
import type { SubmittedRow } from './review.ts'
import type { Ending } from './turn.ts'

/** Where what is new came from; its ids are the host's. */
export interface Sources {
  readonly source_user_message_id?: string | undefined
  readonly source_assistant_message_id?: string | undefined
}

/** A task to be made: its id is ours, drawn before the command, so that deciding twice decides the same. */
export type NewTask = SomeFields & { readonly id: string }

/** A change to one listed task, named by its id or its number. */
export interface TaskChange {
  readonly task: string | number
  readonly fields: SomeFields
  /** A person's If-Match. */
  readonly if_version?: number | undefined
  /** Refuse where the task is settled already, instead of taking the same status again for a success. */
  readonly if_open?: boolean | undefined
}
export interface TaskRemoval {
  readonly task: string | number
  readonly if_version?: number | undefined
}

/** The facts of a run that stand on their own: no rule but that their turn is under way. */
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

/** What may be asked. Closed: every edge, tool and run speaks these, and nothing else writes. */
export type Command =
  | {
      readonly type: 'set_policy'
      readonly by: 'person' | 'model'
      readonly policy: PolicyPatch
      readonly host?: PolicyPatch
    }
  | {
      /** A tool call from outside brings its turn along. */
      readonly type: 'open_turn'
      readonly turn_id: string
      readonly toolset?: Toolset | undefined
      readonly host?: PolicyPatch
    }
  | {
      readonly type: 'start_turn'
      readonly turn_id: string
      readonly message_id: string
      readonly message: string
      readonly model: string
      readonly policy?: PolicyPatch
      readonly host?: PolicyPatch
      readonly continue_turn_id?: string | undefined
    }
  | { readonly type: 'stop_turn'; readonly turn_id: string }
  | { readonly type: 'record'; readonly turn_id: string; readonly fact: Fact }
  | {
      readonly type: 'finish_turn'
      readonly turn_id: string
      readonly ending: Ending
      readonly failure?: { readonly code: string; readonly message: string }
      readonly steps: number
      readonly usage: Usage
    }
  | ({
      /** Creates, changes and removes, in this order and all or nothing. */
      readonly type: 'edit_tasks'
      readonly by: 'model' | 'person' | 'file'
      /** A model's turn. A person's or a file's new tasks join the running or latest turn. */
      readonly turn_id?: string
      readonly create?: readonly NewTask[]
      readonly change?: readonly TaskChange[]
      readonly remove?: readonly TaskRemoval[]
      /** The ids of tasks, new ones included, in the order in which they are to stand: how a file says it. */
      readonly order?: readonly string[]
      /** The seq that a model's call was based on; by default the last answer that it got. */
      readonly basis?: number | undefined
      /** Used when a review stands between a model and its new tasks. */
      readonly review?: { readonly review_id: string; readonly tool_call_id: string }
    } & Sources)
  | {
      readonly type: 'assess_task'
      readonly turn_id: string
      readonly task: string | number
      readonly verdict: Verdict
      readonly reason: string
      readonly model: string
      readonly usage?: Usage | undefined
      readonly claim: { readonly status: 'completed' | 'cancelled'; readonly outcome?: string }
      readonly basis?: number | undefined
    }
  | {
      readonly type: 'decide_review'
      readonly review_id: string
      readonly decision:
        | { readonly action: 'confirm'; readonly tasks: readonly SubmittedRow[]; readonly comment?: string | undefined }
        | { readonly action: 'cancel'; readonly reason?: string | undefined; readonly comment?: string | undefined }
      readonly via: DecisionVia
      /** Ids for the tasks that a confirm writes: at least as many as it has rows. */
      readonly ids: readonly string[]
    }
  | { readonly type: 'expire_review'; readonly review_id: string }
  | { readonly type: 'show_panel'; readonly review_id: string; readonly panel: string }
  | { readonly type: 'leave_panel'; readonly review_id: string; readonly panel: string }

export type CommandType = Command['type']
export type CommandOf<T extends CommandType> = Extract<Command, { readonly type: T }>
