import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { StoreError } from '../store-error.ts'
import { isCorrupt, toStoreError } from './to-store-error.ts'

/** Only operators see failures to open: these messages name the path. */
export function openError(error: unknown, path: string): unknown {
  if (isCorrupt(error)) return damaged(path, error)
  const code = (error as NodeJS.ErrnoException | null)?.code
  // SQLite only says that it cannot open the file; the folder's permissions say why.
  if (['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') || !isWritable(dirname(path)))
    return notWritable(dirname(path), error)
  if (code === 'ENOSPC') return new StoreError('full', `The disk of ${dirname(path)} is full.`, { cause: error })
  const known = toStoreError(error)
  if (known === error || !(known instanceof StoreError)) return error
  return new StoreError(known.code, `${path}: ${known.message}`, { cause: error })
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function notWritable(folder: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError('readonly', `${folder} is not writable. Choose another folder, or change its permissions.`, {
    cause,
  })
}

/** One line for the operator: what is wrong, and what to do. */
export function damaged(path: string, cause: unknown): StoreError {
  const what = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '')
  const todo = 'Save what can be read with "runsheet recover", or restore a backup'
  return new StoreError('corrupt', `${path} is damaged and was left untouched: ${what}. ${todo}.`, { cause })
}
