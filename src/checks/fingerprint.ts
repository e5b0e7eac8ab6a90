import { createHash } from 'node:crypto'
import { type BigIntStats, realpathSync } from 'node:fs'
import { dirname, normalize } from 'node:path/posix'
import { type FileHasher, lstatOf, targetOf } from './file-hash.ts'
import { type Bounds, type Git, gitFiles, isInRepository, pathOf } from './git-files.ts'
import { plainFiles } from './git-files.ts'

export interface Limits {
  readonly files: number
  readonly bytes: number
}

/** Above these limits a survey would take seconds. */
export const LIMITS: Limits = { files: 20_000, bytes: 256_000_000 }

/** Limits without git, where nothing tells which files are built or installed. Folders count as files. */
export const PLAIN_LIMITS: Limits = { files: 2_000, bytes: 32_000_000 }

export interface FingerprintRequest {
  readonly root: string
  readonly git: Git | undefined
  readonly exclude: readonly string[]
  /** Extra files to include, which git may ignore. */
  readonly also?: readonly string[] | undefined
  readonly limits: Limits
}

/** Gets the stats of a file, but not of a link. */
type EachFile = (path: string, hash: string, stats: BigIntStats | undefined) => void

/**
 * One hash over the names, modes and contents of a workspace's files on disk; staging and committing do not change it.
 * Covers all files without git. Undefined above the limits, or if a file is unreadable.
 */
export function fingerprint(
  request: FingerprintRequest,
  hasher: FileHasher,
  each: EachFile = () => {},
): string | undefined {
  const { root, git } = request
  if (git && isInRepository(root, git)) {
    const names = gitFiles(root, git, boundsOf(request))
    return names && hashed(request, names, hasher, each)
  }
  const { files, bytes } = request.limits
  const limits = { files: Math.min(files, PLAIN_LIMITS.files), bytes: Math.min(bytes, PLAIN_LIMITS.bytes) }
  const plain = { ...request, limits }
  const names = plainFiles(root, boundsOf(plain))
  return names && hashed(plain, names, hasher, each)
}

function hashed(
  { root, also = [], limits }: FingerprintRequest,
  names: ReadonlySet<string>,
  hasher: FileHasher,
  each: EachFile,
): string | undefined {
  const entries = entriesOf(root, [...names, ...besides(names, also)].toSorted(), limits.bytes)
  if (!entries) return undefined
  const digest = createHash('sha256')
  for (const { name, path, target, stats } of entries) {
    const content = hasher.hash(path, limits.bytes, stats)
    if (content === undefined && target === undefined) return undefined
    const file = target === undefined ? stats : undefined
    each(Buffer.from(name, 'latin1').toString(), asHash(target, content ?? ''), file)
    digest.update(`${stats.mode.toString(8)}\0${name}\0${target ?? ''}\0${content ?? ''}\0`)
  }
  return digest.digest('hex')
}

/** The names of these paths that are not among the others. Most are, and need no conversion. */
const besides = (names: ReadonlySet<string>, paths: readonly string[]): ReadonlySet<string> =>
  new Set(
    paths
      .filter(path => !names.has(path))
      .map(asName)
      .filter(name => !names.has(name)),
  )

const asHash = (target: string | undefined, content: string): string =>
  target === undefined ? content : createHash('sha256').update(`${target}\0${content}`).digest('hex')

function boundsOf({ exclude, limits }: FingerprintRequest): Bounds {
  const leftOut = exclude.map(folder => Buffer.from(folder).toString('latin1'))
  return { maxFiles: limits.files, isLeftOut: name => isIn(leftOut, name) }
}

const asName = (path: string): string => Buffer.from(normalize(path)).toString('latin1')

export const isIn = (folders: readonly string[], path: string): boolean =>
  folders.some(folder => path === folder || path.startsWith(`${folder}/`))

interface Entry {
  readonly name: string
  readonly path: Buffer
  readonly stats: BigIntStats
  readonly target?: string | undefined
}

/** Entries of the existing files; undefined above `maxBytes`, or if a link leads to where git does not list files. */
function entriesOf(root: string, names: readonly string[], maxBytes: number): readonly Entry[] | undefined {
  const kindOf = folderKinds(root)
  const entries: Entry[] = []
  let bytes = 0
  for (const name of names) {
    const folder = kindOf(dirname(name))
    if (folder === 'linked') return undefined
    const path = pathOf(root, name)
    const stats = folder === 'plain' ? lstatOf(path) : undefined
    // Deleted, or replaced by a folder, whose files are listed separately.
    if (!stats || stats.isDirectory()) continue
    const entry = stats.isSymbolicLink() ? linkedEntry(root, name, path, stats) : { name, path, stats }
    if (!entry || !(stats.isFile() || stats.isSymbolicLink())) return undefined
    bytes += Number(entry.stats.size)
    if (bytes > maxBytes) return undefined
    entries.push(entry)
  }
  return entries
}

/** A link counts with its target. Undefined if that is a folder or outside, where changes go unseen. */
function linkedEntry(root: string, name: string, path: Buffer, stats: BigIntStats): Entry | undefined {
  const target = targetOf(path)
  const real = realPathOf(path)
  if (real === undefined) return { name, path, stats, target }
  const led = lstatOf(real)
  const isInside = real.toString('latin1').startsWith(`${Buffer.from(root).toString('latin1')}/`)
  return isInside && led?.isFile() ? { name, path: real, stats: led, target } : undefined
}

/** Undefined for dangling links. */
function realPathOf(path: Buffer): Buffer | undefined {
  try {
    return realpathSync.native(path, 'buffer')
  } catch {
    return undefined
  }
}

type FolderKind = 'plain' | 'linked' | 'gone'

/** Whether a folder is real, with no link on the way to it: behind a link, tracked names may lead out. */
function folderKinds(root: string): (folder: string) => FolderKind {
  const known = new Map<string, FolderKind>([['.', 'plain']])
  const kindOf = (folder: string): FolderKind => {
    const found = known.get(folder) ?? below(kindOf(dirname(folder)), () => lstatOf(pathOf(root, folder)))
    known.set(folder, found)
    return found
  }
  return kindOf
}

function below(parent: FolderKind, look: () => BigIntStats | undefined): FolderKind {
  if (parent !== 'plain') return parent
  const stats = look()
  if (stats?.isSymbolicLink()) return 'linked'
  return stats?.isDirectory() ? 'plain' : 'gone'
}
