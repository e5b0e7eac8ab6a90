import { basename, dirname } from 'node:path'
import { isWritable } from '../folder.ts'
import { StoreError } from '../store-error.ts'
import { isCorrupt, toStoreError } from './to-store-error.ts'

/** These messages contain the path: only operators see failures to open. */
export function openError(error: unknown, path: string): unknown {
  if (isCorrupt(error)) return damaged(path, error)
  const code = (error as NodeJS.ErrnoException | null)?.code
  // SQLite only says that it cannot open the file; the folder's permissions tell why.
  if (['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') || !isWritable(dirname(path)))
    return notWritable(dirname(path), error)
  if (code === 'ENOSPC') return new StoreError('full', `The disk of ${dirname(path)} is full.`, { cause: error })
  const known = toStoreError(error)
  if (known === error || !(known instanceof StoreError)) return error
  return new StoreError(known.code, `${path}: ${known.message}`, { cause: error })
}

function notWritable(folder: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError('readonly', `${folder} is not writable. Choose another folder, or change its permissions.`, {
    cause,
  })
}

export function damaged(path: string, cause: unknown): StoreError {
  const message = `${path} is damaged and was left untouched. Save what can be read with "runsheet recover", or restore a backup. If there is none and nothing can be read, ${beginAnew(path)}`
  return new StoreError('corrupt', message, { cause })
}

export function nothingReadable(path: string): StoreError {
  const message = `Nothing in ${path} can be read; it was left untouched. Restore a backup. If there is none, ${beginAnew(path)}`
  return new StoreError('corrupt', message)
}

function beginAnew(path: string): string {
  const name = basename(path)
  return `move ${name} and ${name}-* away: the next start makes an empty database.`
}
