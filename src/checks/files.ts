import { createHash, hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  type BigIntStats,
  type Dirent,
} from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import picomatch from 'picomatch'
import { isFolder, pathFrom, realOf } from './workspace.ts'

/** Hashes by path: relative to the workspace with `/`, or absolute for files outside. */
export type FileHashes = ReadonlyMap<string, string>

/** Stamps by path. The system changes them with every write, and no user can set them. */
export type Stamps = ReadonlyMap<string, string>

export interface Limits {
  readonly files: number
  readonly bytes: number
}

export interface FilesRequest {
  readonly root: string
  readonly globs: readonly string[]
  /** Extra files to include if they exist; folders as `asFolder` writes them. */
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  readonly limits: Limits
}

/** The path of a folder whose existence counts, whatever it contains: `make` takes a folder `test` for its target. */
export const asFolder = (path: string): string => `${path}/`
const isForFolder = (path: string): boolean => path.endsWith('/')

/** Directory entries visited per allowed file. */
const VISITS_PER_FILE = 10
const UNREADABLE = 'unreadable'
const SPECIAL = 'special'
const FOLDER = 'folder'

export const isIn = (folders: readonly string[], path: string): boolean =>
  folders.some(folder => path === folder || path.startsWith(`${folder}/`))

/**
 * Paths of all files below a folder, in the folders that `isEntered` admits. Links are listed, not followed. Undefined
 * above `maxEntries`, folders included.
 */
export function filesBelow(
  root: string,
  isEntered: (folder: string) => boolean,
  maxEntries: number,
): readonly string[] | undefined {
  const found: string[] = []
  const folders = ['']
  let visits = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(join(root, folder))) {
      visits += 1
      if (visits > maxEntries) return undefined
      if (entry.name === '.git') continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (!entry.isDirectory()) found.push(path)
      else if (isEntered(path)) folders.push(path)
    }
  }
  return found
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // Removed meanwhile, or unreadable.
    return []
  }
}

/** Files that the globs match plus the given paths, sorted; these need not exist. Undefined above the limits. */
export function filesOf({ root, globs, paths, exclude, limits }: FilesRequest): readonly string[] | undefined {
  const { matches, mayHold } = globsOf(globs)
  const below = filesBelow(root, folder => mayHold(folder) && !isIn(exclude, folder), limits.files * VISITS_PER_FILE)
  const found = below?.filter(matches)
  return found && found.length <= limits.files ? [...new Set([...found, ...paths])].sort() : undefined
}

export function hashFiles(
  { root, limits }: Pick<FilesRequest, 'root' | 'limits'>,
  paths: readonly string[],
  hasher: FileHasher,
): FileHashes | undefined {
  const hashes = new Map<string, string>()
  let bytes = 0
  for (const path of paths) {
    if (isForFolder(path)) {
      if (isFolder(resolve(root, path))) hashes.set(path, FOLDER)
      continue
    }
    const entry = entryAt(root, path)
    if (!entry) continue
    // Programs outside the workspace do not count, because one may be as large as everything else.
    if (entry.content !== undefined && !isAbsolute(path)) bytes += Number(entry.stats.size)
    if (bytes > limits.bytes) return undefined
    hashes.set(path, hashOf(entry, hasher, limits.bytes) ?? UNREADABLE)
  }
  return hashes
}

export interface FileEntry {
  /** Of the file with the content. */
  readonly stats: BigIntStats
  /** The file to read: the path itself, or a link's target inside the workspace. */
  readonly content?: string
  /** A link's text. */
  readonly target?: string
  /** Whether it may change unseen: a link to a folder or outside, a pipe. */
  readonly isBlind?: boolean
}

/** Undefined for folders and for paths that do not exist. */
export function entryAt(root: string, path: string): FileEntry | undefined {
  const full = resolve(root, path)
  const stats = lstatOf(full)
  if (!stats || stats.isDirectory()) return undefined
  if (stats.isFile()) return { content: full, stats }
  if (!stats.isSymbolicLink()) return { stats, target: SPECIAL, isBlind: true }
  const target = targetOf(full) ?? ''
  const real = realOf(full)
  const led = lstatOf(real)
  if (pathFrom(root, real) === undefined || !led?.isFile()) return { stats, target, isBlind: real !== full }
  return leadsToSource(path, real) ? { stats, target } : { content: real, stats: led, target }
}

/** Undefined if it is unreadable. */
export function hashOf(
  { content, stats, target }: FileEntry,
  hasher: FileHasher,
  maxBytes: number,
): string | undefined {
  const hash = content === undefined ? '' : hasher.hash(content, maxBytes, stats)
  if (hash === undefined || target === undefined) return hash
  return createHash('sha256').update(`${target}\0${hash}`).digest('hex')
}

/** The stamps of these paths, as far as they are not known. */
export function stampsOf(root: string, paths: Iterable<string>, known: Stamps): Stamps {
  const stamps = new Map(known)
  for (const path of paths) {
    if (!stamps.has(path)) stamps.set(path, isForFolder(path) ? '' : stampAt(resolve(root, path)))
  }
  return stamps
}

function stampAt(path: string): string {
  const stats = lstatOf(path)
  const own = stats ? stampOf(stats) : ''
  const real = stats?.isSymbolicLink() ? realOf(path) : path
  return real === path || leadsToSource(path, real) ? own : `${own} ${stampAt(real)}`
}

export const stampOf = ({ ino, ctimeNs }: BigIntStats): string => `${ino}:${ctimeNs}`

/** Whether a link among a package's programs leads to a package of the workspace, whose file is source like any other. */
const leadsToSource = (path: string, real: string): boolean =>
  /(?:^|\/)node_modules\/\.bin\//.test(path) && !real.includes('/node_modules/')

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

// `s`, because a name may contain a line break.
const OPTIONS: picomatch.PicomatchOptions = { dot: true, nonegate: true, flags: 's' }
const MODULES = 'node_modules'

/** Globs over workspace paths. Dot files match like others; files in node_modules match only globs that name it. */
export interface Globs {
  readonly matches: (path: string) => boolean
  readonly mayHold: (folder: string) => boolean
}

const MAX_LISTS = 32
const MAX_PATHS = 60_000
const LISTS = new Map<string, Globs>()

/** Remembered with their answers: each run asks about the same paths. */
export function globsOf(globs: readonly string[]): Globs {
  const key = JSON.stringify(globs)
  const known = LISTS.get(key)
  if (known) return known
  if (LISTS.size >= MAX_LISTS) LISTS.clear()
  const { matches, mayHold } = combined(globs)
  const answers = new Map<string, boolean>()
  const made: Globs = {
    mayHold,
    matches: path => {
      const answer = answers.get(path) ?? matches(path)
      if (answers.size >= MAX_PATHS) answers.clear()
      answers.set(path, answer)
      return answer
    },
  }
  LISTS.set(key, made)
  return made
}

function combined(globs: readonly string[]): Globs {
  const all = globs.map(glob => ({
    isMatch: picomatch(glob, OPTIONS),
    base: baseOf(glob),
    ofModules: glob.includes(MODULES),
  }))
  const named = all.filter(({ ofModules }) => ofModules)
  const forPath = (path: string) => (path.split('/').includes(MODULES) ? named : all)
  return {
    matches: path => forPath(path).some(({ isMatch }) => isMatch(path)),
    mayHold: folder =>
      forPath(folder).some(({ base }) => base.startsWith(`${folder}/`) || `${folder}/`.startsWith(base)),
  }
}

export const literal = (path: string): string => path.replaceAll(/[\\[\](){}*?!+@|^$]/g, String.raw`\$&`)

function baseOf(glob: string): string {
  const { base } = picomatch.scan(glob, OPTIONS)
  return base === '' || base === '.' || base.includes('\\') ? '' : `${base}/`
}
