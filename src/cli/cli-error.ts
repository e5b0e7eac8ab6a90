import { StoreError } from '../store/store-error.ts'

/** An error that the user can fix: printed as one line, without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError'
}

/** The reason as the end of a sentence. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof StoreError)) return `${causeOf(error)}.`
  return error.detail === undefined ? error.message : `${error.message} (${error.detail})`
}

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder',
  ENOENT: 'it cannot be created there',
  ENOSPC: 'the disk is full',
  EISDIR: 'a folder is in the way',
  ELOOP: 'it is a symbolic link',
  ERR_SQLITE_ERROR: 'it cannot be read or written',
}

export function causeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return CAUSES[code ?? ''] ?? message
}
