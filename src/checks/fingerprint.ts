import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { dirname, normalize } from 'node:path/posix'
import { type FileHasher, lstatOf, targetOf } from './file-hash.ts'
import { type Git, gitFiles } from './git-files.ts'

export interface Limits {
  readonly files: number
  readonly bytes: number
}

/** Beyond these, looking would take seconds. */
export const LIMITS: Limits = { files: 20_000, bytes: 256_000_000 }

export interface FingerprintRequest {
  readonly root: string
  readonly git: Git
  /** Folders to leave out, relative to the root. */
  readonly exclude: readonly string[]
  /** Files to take besides, which git may ignore. */
  readonly also?: readonly string[] | undefined
  readonly limits: Limits
}

/**
 * One hash for the names, modes and contents of a workspace's files, as they are on disk: staging and committing change
 * nothing. Undefined without git, above the limits, and where a file cannot be read.
 */
export function fingerprint(
  { root, git, exclude, also = [], limits }: FingerprintRequest,
  hasher: FileHasher,
): string | undefined {
  const leftOut = exclude.map(folder => Buffer.from(folder).toString('latin1'))
  const names = gitFiles(root, git, { maxFiles: limits.files, isLeftOut: name => isIn(leftOut, name) })
  const entries = names && entriesOf(root, [...new Set([...names, ...also.map(asName)])].toSorted(), limits.bytes)
  if (!entries || entries.length === 0) return undefined
  const digest = createHash('sha256')
  for (const { name, path, stats } of entries) {
    const content = stats.isSymbolicLink() ? targetOf(path) : hasher.hash(path, limits.bytes, stats)
    if (content === undefined) return undefined
    digest.update(`${stats.mode.toString(8)}\0${name}\0${content}\0`)
  }
  return digest.digest('hex')
}

/** A path as git would list it. */
const asName = (path: string): string => Buffer.from(normalize(path)).toString('latin1')

/** Whether a path is one of these folders, or in one. */
export const isIn = (folders: readonly string[], path: string): boolean =>
  folders.some(folder => path === folder || path.startsWith(`${folder}/`))

interface Entry {
  readonly name: string
  readonly path: Buffer
  readonly stats: BigIntStats
}

/** What exists of the files; undefined if that is too much to read, or neither file nor link. */
function entriesOf(root: string, names: readonly string[], maxBytes: number): readonly Entry[] | undefined {
  const isPlain = plainFolders(root)
  const entries: Entry[] = []
  let bytes = 0
  for (const name of names) {
    if (!isPlain(dirname(name))) continue
    const path = pathOf(root, name)
    const stats = lstatOf(path)
    // Deleted, or replaced by a folder, whose files are listed for themselves.
    if (!stats || stats.isDirectory()) continue
    if (!stats.isFile() && !stats.isSymbolicLink()) return undefined
    bytes += Number(stats.size)
    if (bytes > maxBytes) return undefined
    entries.push({ name, path, stats })
  }
  return entries
}

const pathOf = (root: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')])

/** Whether a folder is one, and no link on the way to it: behind a link, tracked names may lead out. */
function plainFolders(root: string): (folder: string) => boolean {
  const known = new Map<string, boolean>([['.', true]])
  const isPlain = (folder: string): boolean => {
    const found =
      known.get(folder) ?? (isPlain(dirname(folder)) && lstatOf(pathOf(root, folder))?.isDirectory() === true)
    known.set(folder, found)
    return found
  }
  return isPlain
}
