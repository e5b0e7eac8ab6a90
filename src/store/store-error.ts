/** Reason for a store failure. */
export type StoreErrorCode =
  /** The idempotency key was used with a different body. */
  | 'key_conflict'
  /** Another attempt drives the turn now. */
  | 'fenced'
  /** Another process held the lock for too long. */
  | 'busy'
  | 'full'
  | 'readonly'
  /** The data cannot be trusted; it is left untouched. */
  | 'corrupt'
  | 'newer'
  /** Made by an earlier checkout. */
  | 'older'
  | 'io'
  /** The open files were deleted, moved or replaced. Nothing is written until the store is opened again. */
  | 'replaced'
  /** The connection was lost during COMMIT, and there was no key to check with. */
  | 'unknown_outcome'
  /** A task file that is not valid JSON, or has an unknown shape. */
  | 'file_invalid'
  /** A file name, or a task or review id, that belongs to another conversation. */
  | 'id_taken'
  /** This kind of store cannot do it: in memory there is no search, for example. */
  | 'unsupported'
  | 'closed'

const FAULTS: ReadonlySet<StoreErrorCode> = new Set([
  'busy',
  'full',
  'readonly',
  'corrupt',
  'newer',
  'older',
  'io',
  'replaced',
  'unknown_outcome',
  'file_invalid',
])

/**
 * A storage failure. Its message is safe to show: it has no path and no SQL, except for failures to open a store, which
 * only an operator sees. `cause` has the details, for the log.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** The task file at fault, as a path within the data folder. */
  readonly file?: string

  constructor(code: StoreErrorCode, message: string, { file, ...options }: { cause?: unknown; file?: string } = {}) {
    super(message, options)
    this.code = code
    if (file !== undefined) this.file = file
  }

  /** True if storage itself is at fault. */
  get isFault(): boolean {
    return FAULTS.has(this.code)
  }

  /** One line for the log that says exactly what went wrong. */
  get detail(): string | undefined {
    return causeText(this.cause)
  }
}

/** Ids are unique by design. If a host's ids are not, no row is overwritten. */
export const idTaken = (): StoreError =>
  new StoreError('id_taken', 'A task or review of another conversation has this id.')

export const diskFull = (cause: unknown): StoreError =>
  new StoreError('full', 'The disk is full; nothing was written.', { cause })

/** Converts a failed call of `node:fs`. */
export function fileFailure(cause: unknown, { denied, failed }: { denied: string; failed: string }): StoreError {
  switch ((cause as NodeJS.ErrnoException | null)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(cause)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new StoreError('readonly', denied, { cause })
    default:
      return new StoreError('io', failed, { cause })
  }
}

export const closed = (): StoreError => new StoreError('closed', 'The store is closed.')

/** One line for the log, with SQLite's extended code, the errno or PostgreSQL's SQLSTATE. */
function causeText(cause: unknown): string | undefined {
  const text = typeof cause === 'string' ? cause : cause instanceof Error ? errorText(cause) : undefined
  return text?.replaceAll(/\s*\n\s*/g, ' ').trim()
}

function errorText(error: Error & { code?: unknown; errcode?: unknown; severity?: unknown }): string {
  // Node tries several addresses of a host; all failures say the same.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return errorText(error.errors[0])
  const { message, code, errcode, severity } = error
  if (typeof errcode === 'number') return `SQLite ${errcode}: ${message}`
  if (typeof code === 'string' && severity !== undefined) return `SQLSTATE ${code}: ${message}`
  const named = typeof code === 'string' && !message.includes(code) ? `${code}: ${message}` : message
  const deeper = causeText(error.cause)
  return deeper === undefined ? named : `${named} (${deeper})`
}
