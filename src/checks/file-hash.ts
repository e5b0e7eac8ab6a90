import { createHash, hash } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'

/** How long a file must have been left alone before its hash is remembered: clocks of file systems are coarse. */
const SETTLED_MS = 2_000
const MAX_KNOWN = 60_000
const CHUNK = 256 * 1_024

/** A path as a file system takes it: bytes where a name need not be UTF-8. */
export type Path = string | Buffer

/**
 * SHA-256 of files, remembered while size, times and inode stay. Whoever backdates a file with `touch` sets mtime, and the
 * system sets ctime to the present: only who sets the clock, or writes to the disk itself, can keep both.
 */
export class FileHasher {
  readonly #known = new Map<string, { readonly seen: string; readonly hash: string }>()
  readonly #buffer = Buffer.alloc(CHUNK)
  readonly #now: () => number
  /** How often a file was read. */
  reads = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Of a regular file, never through a link; undefined if it is none, cannot be read, or is larger than `maxBytes`. */
  hash(path: Path, maxBytes = Number.POSITIVE_INFINITY, stats = lstatOf(path)): string | undefined {
    if (!stats?.isFile() || stats.size > maxBytes) return undefined
    const key = typeof path === 'string' ? path : path.toString('latin1')
    const known = this.#known.get(key)
    if (known?.seen === identityOf(stats)) return known.hash
    return this.#read(path, key)
  }

  #read(path: Path, key: string): string | undefined {
    const file = opened(path)
    if (file === undefined) return undefined
    try {
      const before = fstatSync(file, { bigint: true })
      if (!before.isFile()) return undefined
      const digest = this.#digest(file)
      this.reads += 1
      if (this.#now() - Number(before.ctimeMs) > SETTLED_MS) this.#remember(key, identityOf(before), digest)
      return digest
    } catch {
      return undefined
    } finally {
      closeSync(file)
    }
  }

  #digest(file: number): string {
    let length = this.#fill(file)
    if (length < CHUNK) return hash('sha256', this.#buffer.subarray(0, length), 'hex')
    const digest = createHash('sha256')
    for (; length > 0; length = this.#fill(file)) digest.update(this.#buffer.subarray(0, length))
    return digest.digest('hex')
  }

  /** Reads until the buffer is full, or the file ends. */
  #fill(file: number): number {
    let length = 0
    for (let read = -1; read !== 0 && length < CHUNK; length += read) {
      read = readSync(file, this.#buffer, length, CHUNK - length, null)
    }
    return length
  }

  #remember(key: string, seen: string, hash: string): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(key, { seen, hash })
  }
}

/** What the path itself names, which may be a link; undefined for nothing. */
export function lstatOf(path: Path): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** The text of a symbolic link. */
export function targetOf(path: Path): string | undefined {
  try {
    return readlinkSync(path, 'latin1')
  } catch {
    return undefined
  }
}

const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`

function opened(path: Path): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch {
    return undefined
  }
}
