import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileFailure } from './store-error.ts'

/** Enough for a commit of any size and for the copy of a task file. */
const ROOM_BYTES = 1 << 20

export function proveRoom(folder: string): void {
  const path = join(folder, `.room-${process.pid}-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      for (let left = ROOM_BYTES; left > 0; ) left -= writeSync(file, Buffer.alloc(left, 1))
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    const failed = 'The database could not be read or written.'
    throw fileFailure(cause, { denied: failed, failed })
  } finally {
    rmSync(path, { force: true })
  }
}
