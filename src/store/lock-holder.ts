import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'

interface LockHolder {
  readonly pid: number
  /** Stopped by a signal or a debugger: it does not continue by itself. */
  readonly isStopped: boolean
}

/** The process that holds a write lock on this byte of a file. Known only on Linux, for processes of the same user. */
export function lockHolder(file: string, byte: number): LockHolder | undefined {
  try {
    const inode = statSync(file, { bigint: true }).ino.toString()
    const pid = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .flatMap(line => holderIn(line, inode, byte) ?? [])
      // A file on another file system may have the same inode number.
      .find(each => hasOpen(each, file))
    return pid === undefined ? undefined : { pid, isStopped: isStopped(pid) }
  } catch {
    return undefined
  }
}

/** `1: POSIX ADVISORY WRITE <pid> <major>:<minor>:<inode> <first byte> <last byte>`. */
function holderIn(line: string, inode: string, byte: number): number | undefined {
  const [, kind, , access, pid, id = '', first, last] = line.split(/\s+/)
  const isOurs = kind === 'POSIX' && access === 'WRITE' && id.split(':')[2] === inode
  const end = last === 'EOF' ? Number.POSITIVE_INFINITY : Number(last)
  return isOurs && Number(first) <= byte && byte <= end ? Number(pid) : undefined
}

function hasOpen(pid: number, file: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some(fd => readlinkSync(`${folder}/${fd}`) === file)
  } catch {
    return false
  }
}

/** The state is the first field after the name, which is in parentheses and may contain anything. */
function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2))
}
