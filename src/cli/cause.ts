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
