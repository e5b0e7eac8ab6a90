/** Why a command was refused. The codes are part of the contract: edges map them to statuses, never reword them. */
export type RefusalCode =
  | 'invalid_id'
  | 'invalid_field'
  | 'batch_empty'
  | 'batch_too_large'
  | 'too_many_open'
  | 'two_in_progress'
  | 'task_not_found'
  | 'task_settled'
  | 'status_not_allowed'
  | 'outcome_required'
  | 'version_mismatch'
  | 'edited_by_person'
  | 'reviewed_tasks_are_fixed'
  | 'assessment_required'
  | 'not_accepted'
  | 'assessor_required'
  | 'persons_only'
  | 'no_turn'
  | 'turn_not_found'
  | 'turn_running'
  | 'turn_conflict'
  | 'turn_finished'
  | 'review_not_found'
  | 'review_already_decided'
  | 'review_expired'

/** Where in the input the fault lies, and what an answer should carry besides words. */
export interface RefusalDetails {
  /** The element of the batch, counted from 0. */
  readonly row?: number
  readonly field?: string
  /** The task's present form, for `version_mismatch`, and its fields a person changed, for `edited_by_person`. */
  readonly task?: unknown
  readonly changed?: Readonly<Record<string, unknown>>
}

/** A command that the rules turn down. It is a value that `decide` returns; the door throws it where that is handier. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly details: RefusalDetails
  /** The task that the message calls by its number, for whoever calls it otherwise. */
  readonly about: { readonly id: string; readonly number: number } | undefined

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}, about?: Refusal['about']) {
    super(message)
    this.code = code
    this.details = details
    this.about = about
  }
}

export const invalidId = (field: string): Refusal =>
  new Refusal('invalid_id', `${field} must be 1 to 128 characters of A-Z a-z 0-9 _ -.`, { field })
