import { createHash } from 'node:crypto'
import { type BigIntStats, type Dirent, readdirSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { type FileHasher, lstatOf, targetOf } from './file-hash.ts'
import { globsOf } from './globs.ts'
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
