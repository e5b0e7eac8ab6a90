import { StoreError } from '../store-error.ts'

const ERROR = 1
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

export function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

export const isBusy = (error: unknown): boolean =>
  [BUSY, LOCKED].includes(resultCode(error) ?? -1) || (error instanceof StoreError && error.code === 'busy')

/** For opening and checking a database. The statements are ours, so an SQL error means that the schema is damaged. */
export const isCorrupt = (error: unknown): boolean => [ERROR, CORRUPT, NOTADB].includes(resultCode(error) ?? -1)

export const isUnreadable = (error: unknown): boolean => resultCode(error) === IOERR

export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError) return error
  switch (resultCode(error)) {
    case BUSY:
    case LOCKED:
      return new StoreError('busy', 'The database is locked by another process.', { cause: error })
    case FULL:
      return new StoreError('full', 'The disk is full; nothing was written.', { cause: error })
    case READONLY:
      return new StoreError(
        'readonly',
        'The database is read-only: check the permissions of the file and its folder.',
        {
          cause: error,
        },
      )
    case CORRUPT:
    case NOTADB:
      return new StoreError('corrupt', 'The database is damaged; nothing was written.', { cause: error })
    case IOERR:
    case CANTOPEN:
      return new StoreError('io', 'The database could not be read or written.', { cause: error })
    case undefined:
      return error
    default:
      return new StoreError('io', 'The database could not be read or written.', { cause: error })
  }
}
