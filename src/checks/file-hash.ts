import { createHash, hash } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'

/** A file must be unchanged this long before its hash is cached, because file system clocks are coarse. */
const SETTLED_MS = 2_000
const MAX_KNOWN = 60_000
const CHUNK = 256 * 1_024

/**
 * Caches SHA-256 hashes while size, times and inode stay the same. `touch` can set mtime, but then the system sets
 * ctime to now; keeping both requires setting the clock or writing to the raw disk.
 */
export class FileHasher {
  readonly #known = new Map<string, { readonly seen: string; readonly hash: string }>()
  readonly #buffer = Buffer.alloc(CHUNK)
  readonly #now: () => number
  reads = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Hash of a regular file, never through a link; undefined for others, if unreadable, or above `maxBytes`. */
  hash(path: string, maxBytes = Number.POSITIVE_INFINITY, stats = lstatOf(path)): string | undefined {
    if (!stats?.isFile() || stats.size > maxBytes) return undefined
    const known = this.#known.get(path)
    return known?.seen === identityOf(stats) ? known.hash : this.#read(path)
  }

  #read(path: string): string | undefined {
    const file = opened(path)
    if (file === undefined) return undefined
    try {
      const before = fstatSync(file, { bigint: true })
      if (!before.isFile()) return undefined
      const digest = this.#digest(file)
      this.reads += 1
      if (this.#now() - Number(before.ctimeMs) > SETTLED_MS) this.#remember(path, identityOf(before), digest)
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

  #fill(file: number): number {
    let length = 0
    for (let read = -1; read !== 0 && length < CHUNK; length += read) {
      read = readSync(file, this.#buffer, length, CHUNK - length, null)
    }
    return length
  }

  #remember(path: string, seen: string, hash: string): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(path, { seen, hash })
  }
}

/** Stats of the path itself, not of a link's target; undefined if it does not exist. */
export function lstatOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`

function opened(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch {
    return undefined
  }
}
