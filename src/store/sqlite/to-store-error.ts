import { basename, dirname } from 'node:path'
import { isWritable } from '../private-file.ts'
import { StoreError, diskFull } from '../store-error.ts'

const ERROR = 1
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const CORRUPT = 11
const FULL = 13
const NOTADB = 26

function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

export const isBusy = (error: unknown): boolean =>
  [BUSY, LOCKED].includes(resultCode(error) ?? -1) || (error instanceof StoreError && error.code === 'busy')

/** For opening and checking a database. The statements are ours, so an SQL error means that the schema is damaged. */
export const isCorrupt = (error: unknown): boolean => [ERROR, CORRUPT, NOTADB].includes(resultCode(error) ?? -1)

export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError) return error
  switch (resultCode(error)) {
    case undefined:
      return error
    case BUSY:
    case LOCKED:
      return new StoreError('busy', 'The database is locked by another process.', { cause: error })
    case FULL:
      return diskFull(error)
    case READONLY: {
      const message = 'The database is read-only: check the permissions of the file and its folder.'
      return new StoreError('readonly', message, { cause: error })
    }
    case CORRUPT:
    case NOTADB:
      return new StoreError('corrupt', 'The database is damaged; nothing was written.', { cause: error })
    default:
      return new StoreError('io', 'The database could not be read or written.', { cause: error })
  }
}

/** These messages contain the path: only operators see failures to open. */
export function openError(error: unknown, path: string): unknown {
  if (isCorrupt(error)) return damaged(path, error)
  const code = (error as NodeJS.ErrnoException | null)?.code
  const folder = dirname(path)
  // SQLite only says that it cannot open the file; the folder's permissions tell why.
  if (['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') || !isWritable(folder)) {
    if (error instanceof StoreError) return error
    const message = `${folder} is not writable. Choose another folder, or change its permissions.`
    return new StoreError('readonly', message, { cause: error })
  }
  if (code === 'ENOSPC') return new StoreError('full', `The disk of ${folder} is full.`, { cause: error })
  const known = toStoreError(error)
  if (known === error || !(known instanceof StoreError)) return error
  return new StoreError(known.code, `${path}: ${known.message}`, { cause: error })
}

export function damaged(path: string, cause: unknown): StoreError {
  const name = basename(path)
  const message = `${path} is damaged and was left untouched. Restore a backup, or save what can be read with "sqlite3 ${name} .recover" (docs/operate.md, Damage). Without either, move ${name} and ${name}-* away: the next start makes an empty database.`
  return new StoreError('corrupt', message, { cause })
}

/** Damage to a row. The message is safe to show; the operator reads the cause. */
export const storedDamage = (cause: string): StoreError =>
  new StoreError('corrupt', 'What is stored here is damaged. "runsheet verify" shows what; a backup repairs it.', {
    cause,
  })
