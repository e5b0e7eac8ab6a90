import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { normalize } from 'node:path/posix'
import { entryAt, filesBelow, hashOf, isIn, type FileEntry, type FileHasher, type Limits } from './files.ts'
import { gitFiles, isInRepository, type Git } from './git.ts'

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
 * Covers all files without git. Undefined above the limits, or if a file may change unseen.
 */
export function fingerprint(
  { root, git, exclude, also = [], limits: given }: FingerprintRequest,
  hasher: FileHasher,
  each: EachFile = () => {},
): string | undefined {
  const isGits = git !== undefined && isInRepository(root, git)
  const limits = isGits ? given : lower(given, PLAIN_LIMITS)
  const listed = isGits ? gitFiles(root, git) : plainFiles(root, exclude, limits.files)
  const names = listed && new Set(listed.filter(name => !isIn(exclude, name)))
  if (!names || names.size > limits.files || [...names].some(isRepository)) return undefined
  for (const path of also) if (!names.has(path)) names.add(normalize(path))
  const entries = entriesOf(root, names, limits.bytes)
  if (!entries) return undefined
  const digest = createHash('sha256')
  for (const { path, entry } of entries) {
    const hash = hashOf(entry, hasher, limits.bytes)
    if (hash === undefined) return undefined
    each(path, hash, entry.target === undefined ? entry.stats : undefined)
    digest.update(`${entry.stats.mode.toString(8)}\0${path}\0${hash}\0`)
  }
  return digest.digest('hex')
}

/** As git lists one inside another. */
const isRepository = (name: string): boolean => name.endsWith('/')

const lower = (a: Limits, b: Limits): Limits => ({
  files: Math.min(a.files, b.files),
  bytes: Math.min(a.bytes, b.bytes),
})

/** Caches that Node tools write whenever they run. */
const CACHE = /(^|\/)node_modules\/\.cache$/

const plainFiles = (root: string, exclude: readonly string[], maxFiles: number): readonly string[] | undefined =>
  filesBelow(root, folder => !CACHE.test(folder) && !isIn(exclude, folder), maxFiles)

interface NamedEntry {
  readonly path: string
  readonly entry: FileEntry
}

/** The existing files, none of them read. Undefined above `maxBytes`, or if one may change unseen. */
function entriesOf(root: string, names: ReadonlySet<string>, maxBytes: number): readonly NamedEntry[] | undefined {
  const entries: NamedEntry[] = []
  let bytes = 0
  for (const path of [...names].sort()) {
    const entry = entryAt(root, path)
    bytes += Number(entry?.stats.size ?? 0)
    if (entry?.isBlind || bytes > maxBytes || path.includes(UNKNOWN)) return undefined
    if (entry) entries.push({ path, entry })
  }
  return entries
}

/** In a name that is not UTF-8. It leads to no file. */
const UNKNOWN = '\uFFFD'
