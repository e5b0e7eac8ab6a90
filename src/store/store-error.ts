export type StoreErrorCode =
  /** The key was used with another body. */
  | 'key_conflict'
  /** Another attempt drives the turn now. */
  | 'fenced'
  /** Another process held the lock for too long. */
  | 'busy'
  | 'full'
  | 'readonly'
  /** The stored data cannot be trusted; it is left untouched. */
  | 'corrupt'
  | 'newer'
  | 'io'
  /** The connection was lost during a commit without an idempotency key. */
  | 'unknown_outcome'
  /** A JSON file that is malformed or has an unknown shape. */
  | 'file_invalid'
  /** A file name, task id or review id that belongs to another conversation. */
  | 'id_taken'
  | 'closed'

/**
 * A storage failure. Its message is safe to show: no path, no SQL. Only errors of opening a store, which an operator
 * sees, may name a path. `cause` has the details for the log.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** Generated ids are unique; a host's may not be, and must not overwrite another conversation's row. */
export const idTaken = (): StoreError =>
  new StoreError('id_taken', 'A task or review of another conversation already has this id.')

export const closed = (): StoreError => new StoreError('closed', 'The store is closed.')
