export type StoreErrorCode =
  /** The key was used with another body. */
  | 'key_conflict'
  /** Another attempt drives the turn now. */
  | 'fenced'
  /** Another process held the lock for too long. */
  | 'busy'
  | 'full'
  | 'readonly'
  /** What is stored cannot be trusted: it is left as it is. */
  | 'corrupt'
  | 'newer'
  | 'io'
  /** The connection was lost while committing, and there was no key to find out by. */
  | 'unknown_outcome'
  /** A JSON file that is broken or of another shape. */
  | 'file_invalid'
  /** A file name, or the id of a task or review, that belongs to another conversation. */
  | 'id_taken'
  | 'closed'

/**
 * A failure of storage. Its message is fit for anybody's eyes: no path, no SQL, except where `code` belongs to opening
 * a store, which only an operator sees. The rest is in `cause`, for the log.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** Ids are drawn to be unique; where a host's are not, nobody's row is written over. */
export const idTaken = (): StoreError =>
  new StoreError('id_taken', 'A task or review of another conversation has this id.')

export const closed = (): StoreError => new StoreError('closed', 'The store is closed.')
