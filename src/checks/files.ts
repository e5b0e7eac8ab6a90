import { createHash } from 'node:crypto'
import { type BigIntStats, type Dirent, readdirSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { type FileHasher, lstatOf, targetOf } from './file-hash.ts'
import { isIn, type Limits } from './fingerprint.ts'
import { type Globs, globsOf } from './globs.ts'
import { isFolder, pathFrom, realOf } from './workspace.ts'

/** Hashes by path: relative to the workspace with `/`, or absolute for files outside. */
export type FileHashes = ReadonlyMap<string, string>

/** Stamps by path. The system changes them with every write, and no user can set them. */
export type Stamps = ReadonlyMap<string, string>

export interface FilesRequest {
  readonly root: string
  readonly globs: readonly string[]
  /** Extra files to include if they exist; folders as `asFolder` writes them. */
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  readonly limits: Limits
}

/** The path of a folder whose existence counts, whatever it contains. */
export const asFolder = (path: string): string => `${path}/`
const isForFolder = (path: string): boolean => path.endsWith('/')

/** Directory entries visited per allowed file. */
const LOOKS_PER_FILE = 10
const UNREADABLE = 'unreadable'
const SPECIAL = 'special'
const FOLDER = 'folder'

/** Files that the globs match plus the given paths, sorted; these need not exist. Undefined above the limits. */
export function filesOf({ root, globs, paths, exclude, limits }: FilesRequest): readonly string[] | undefined {
  const matching = matchingFiles(root, globsOf(globs), exclude, limits.files)
  return matching && [...new Set([...matching, ...paths])].sort()
}

export function hashFiles(
  { root, limits }: Pick<FilesRequest, 'root' | 'limits'>,
  paths: readonly string[],
  hasher: FileHasher,
): FileHashes | undefined {
  const hashes = new Map<string, string>()
  let bytes = 0
  for (const path of paths) {
    const file = fileAt(root, path)
    if (!file) continue
    // Programs outside the workspace do not count, because one may be as large as everything else.
    bytes += isAbsolute(path) ? 0 : file.bytes
    if (bytes > limits.bytes) return undefined
    hashes.set(path, hashOf(file, hasher, limits.bytes))
  }
  return hashes
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

interface FoundFile {
  /** The path to read: the file itself, or a link's target inside the workspace. */
  readonly content: string | undefined
  readonly target: string | undefined
  readonly bytes: number
}

/** Undefined for missing files, and for folders that do not count. */
function fileAt(root: string, path: string): FoundFile | undefined {
  const full = resolve(root, path)
  const stats = lstatOf(full)
  if (isForFolder(path)) return isFolder(full) ? { content: undefined, target: FOLDER, bytes: 0 } : undefined
  if (!stats || stats.isDirectory()) return undefined
  if (stats.isFile()) return { content: full, target: undefined, bytes: Number(stats.size) }
  const real = realOf(full)
  const led = pathFrom(root, real) === undefined || leadsToSource(path, real) ? undefined : lstatOf(real)
  const content = led?.isFile() ? real : undefined
  return { content, target: targetOf(full) ?? SPECIAL, bytes: Number(content ? led?.size : 0) }
}

function hashOf({ content, target }: FoundFile, hasher: FileHasher, maxBytes: number): string {
  const hash = content === undefined ? '' : (hasher.hash(content, maxBytes) ?? UNREADABLE)
  return target === undefined ? hash : createHash('sha256').update(`${target}\0${hash}`).digest('hex')
}

/** Follows a link to a folder of the workspace, but no links below it, which may be circular. */
function matchingFiles(
  root: string,
  globs: Globs,
  exclude: readonly string[],
  maxFiles: number,
): readonly string[] | undefined {
  const found: string[] = []
  const folders = [{ folder: '', isLinked: false }]
  let looks = 0
  for (let next = folders.pop(); next; next = folders.pop()) {
    const { folder, isLinked } = next
    for (const entry of entriesOf(join(root, folder))) {
      looks += 1
      if (entry.name === '.git') continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const isLink = entry.isSymbolicLink() && !isLinked && globs.mayHold(path) && leadsToFolder(root, path, exclude)
      if (entry.isDirectory() || isLink) {
        if (!isIn(exclude, path) && globs.mayHold(path)) folders.push({ folder: path, isLinked: isLinked || isLink })
      }
      if (!entry.isDirectory() && globs.matches(path)) found.push(path)
    }
    if (found.length > maxFiles || looks > maxFiles * LOOKS_PER_FILE) return undefined
  }
  return found
}

/** Whether a link leads to a folder of the workspace that does not contain the link. */
function leadsToFolder(root: string, path: string, exclude: readonly string[]): boolean {
  const real = realOf(join(root, path))
  const way = pathFrom(root, real)
  if (way === undefined || isIn(exclude, way) || /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/.test(way)) return false
  return pathFrom(real, join(root, path)) === undefined && isFolder(real)
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // Removed meanwhile, or unreadable.
    return []
  }
}
