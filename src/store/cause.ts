/** SQLite's names for errors that an operator may see, by extended result code. */
const SQLITE: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  261: 'SQLITE_BUSY_RECOVERY',
  517: 'SQLITE_BUSY_SNAPSHOT',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  264: 'SQLITE_READONLY_RECOVERY',
  520: 'SQLITE_READONLY_CANTLOCK',
  776: 'SQLITE_READONLY_ROLLBACK',
  1032: 'SQLITE_READONLY_DBMOVED',
  1288: 'SQLITE_READONLY_CANTINIT',
  1544: 'SQLITE_READONLY_DIRECTORY',
  10: 'SQLITE_IOERR',
  266: 'SQLITE_IOERR_READ',
  522: 'SQLITE_IOERR_SHORT_READ',
  778: 'SQLITE_IOERR_WRITE',
  1034: 'SQLITE_IOERR_FSYNC',
  1290: 'SQLITE_IOERR_DIR_FSYNC',
  1546: 'SQLITE_IOERR_TRUNCATE',
  1802: 'SQLITE_IOERR_FSTAT',
  2570: 'SQLITE_IOERR_DELETE',
  3850: 'SQLITE_IOERR_LOCK',
  4618: 'SQLITE_IOERR_SHMOPEN',
  4874: 'SQLITE_IOERR_SHMSIZE',
  5386: 'SQLITE_IOERR_SHMMAP',
  8202: 'SQLITE_IOERR_DATA',
  8458: 'SQLITE_IOERR_CORRUPTFS',
  11: 'SQLITE_CORRUPT',
  779: 'SQLITE_CORRUPT_INDEX',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  526: 'SQLITE_CANTOPEN_ISDIR',
  26: 'SQLITE_NOTADB',
}

/** One line for the log, with SQLite's extended code, the errno or PostgreSQL's SQLSTATE. */
export function causeText(cause: unknown): string | undefined {
  const text = typeof cause === 'string' ? cause : cause instanceof Error ? errorText(cause) : undefined
  return text?.replaceAll(/\s*\n\s*/g, ' ').trim()
}

function errorText(error: Error & { code?: unknown; errcode?: unknown; severity?: unknown }): string {
  // Node tries several addresses of a host; all failures say the same.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return errorText(error.errors[0])
  const { message, code, errcode, severity } = error
  if (typeof errcode === 'number') return `${SQLITE[errcode] ?? 'SQLite'} (${errcode}): ${message}`
  if (typeof code === 'string' && severity !== undefined) return `SQLSTATE ${code}: ${message}`
  const named = typeof code === 'string' && !message.includes(code) ? `${code}: ${message}` : message
  const deeper = causeText(error.cause)
  return deeper === undefined ? named : `${named} (${deeper})`
}
