import type { SentRowComment, SubmittedRow } from './review.ts'

// A new action is a line in `Decision` and in the tables below, which the forms of hosts and the terminal walk over. It
// also needs its schema in `http/schemas.ts`, and a button and words on the page.

/** A person's answer to a review: confirm with the edited rows, cancel, or send it back to be revised. */
export type Decision<Row = SubmittedRow> = Said &
  (
    | { readonly action: 'confirm'; readonly tasks: readonly Row[] }
    | {
        readonly action: 'cancel'
        readonly reason?: string | undefined
        /** Milliseconds since the decision during which the person could undo it. */
        readonly held_ms?: number | undefined
      }
    | {
        /** The comment, or a comment on a row, says what to change. */
        readonly action: 'revise'
        /** The rows as the person edited them; nothing is written. */
        readonly tasks?: readonly Row[] | undefined
      }
  )
export type ReviewAction = Decision['action']

/** A person's comments with a decision. */
export interface Said {
  readonly comment?: string | undefined
  /** Comments on rows of the proposal, also on those that are not confirmed. */
  readonly row_comments?: readonly SentRowComment[] | undefined
}

/** The reason a review ended without tasks. A person may give a reason of their own instead. */
export type CancelReason =
  | 'user_cancelled'
  | 'review_timeout'
  | 'panel_closed'
  | 'turn_stopped'
  | 'changes_requested'
  | 'superseded'

/** The outcome of a proposed plan, decided or not. */
export type PlanOutcome =
  | 'approved'
  | 'rejected'
  | 'changes_requested'
  | 'timed_out'
  | 'closed'
  | 'stopped'
  | 'superseded'

export const OUTCOMES: Readonly<Record<CancelReason, PlanOutcome>> = {
  user_cancelled: 'rejected',
  review_timeout: 'timed_out',
  panel_closed: 'closed',
  turn_stopped: 'stopped',
  changes_requested: 'changes_requested',
  superseded: 'superseded',
}

/** The reasons after which a person may reopen the review. */
export const REOPENABLE: readonly string[] = ['panel_closed', 'changes_requested'] satisfies CancelReason[]

interface Cancelling {
  readonly reason: CancelReason
  /** The person must give a reason. */
  readonly needsComment?: true
  /** The label in the forms of hosts. */
  readonly choice: string
  /** In the terminal: the label, the question that follows, and the confirmation. */
  readonly does: string
  readonly asks: string
  readonly done: string
}

/**
 * The actions that write nothing and cancel the review, in the order in which they are offered, with their English
 * words.
 */
export const CANCELLING: Readonly<Record<Exclude<ReviewAction, 'confirm'>, Cancelling>> = {
  revise: {
    reason: 'changes_requested',
    needsComment: true,
    choice: 'Request changes',
    does: 'Request changes: the agent proposes again',
    asks: 'What should the agent change? ',
    done: 'sent back',
  },
  cancel: {
    reason: 'user_cancelled',
    choice: 'Reject',
    does: 'Reject',
    asks: 'Why? The agent is told (Enter: no reason). ',
    done: 'rejected',
  },
}
export const CANCELLING_ACTIONS = /* @__PURE__ */ Object.keys(CANCELLING) as readonly (keyof typeof CANCELLING)[]
