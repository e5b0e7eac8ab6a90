import { isAbsolute } from 'node:path'
import type { FileHasher } from './file-hash.ts'
import { builtFiles } from './built-files.ts'
import { type FileHashes, filesOf, type FilesRequest, hashFiles, type Stamps, stampsOf } from './files.ts'
import { namedSnapshots } from './named-snapshots.ts'
import type { TrackedFiles } from '../domain/check.ts'
import { fingerprint, type FingerprintRequest, trackedFiles } from './fingerprint.ts'
import { type Git, ignoredBy } from './git-files.ts'

/** What is to be found out about a workspace. */
export interface SurveyRequest extends FilesRequest, FingerprintRequest {
  /** Globs of the files to take even if they are built. */
  readonly named: readonly string[]
  /** Besides the files: a fingerprint, only what that would cover, or which of the files are ignored. */
  readonly besides: 'all' | 'fingerprint' | 'tracked' | 'ignored' | 'nothing'
}

/** How a workspace is at one moment. Undefined is what could not be told. */
export interface Survey {
  readonly fingerprint: string | undefined
  readonly files: FileHashes | undefined
  /** Tells whether one of the files was written to meanwhile, even if it is as before. */
  readonly stamps: Stamps | undefined
  /** The `.gitignore` files by which some were left out as built. */
  readonly rules: ReadonlySet<string>
  /** Those of the files, also missing ones, that guarded tests name as what they expect. */
  readonly snapshots: ReadonlySet<string>
  /** Those of the files that a `.gitignore` ignores. */
  readonly ignored: ReadonlySet<string> | undefined
  /** With `all`: the hashes of all files that the fingerprint covers. */
  readonly all?: FileHashes
  /** What a fingerprint would cover. */
  readonly tracked: TrackedFiles | undefined
}

/** Reads thousands of files without a pause: for a worker. */
export function survey(request: SurveyRequest, hasher: FileHasher): Survey {
  const { git, besides } = request
  const found = filesOf(request)
  const built = builtFiles(request.root, git, found ?? [], request.named)
  const own =
    found &&
    hashFiles(
      request,
      found.filter(path => !built.has(path)),
      hasher,
    )
  const snapshots = namedSnapshots(request, own ?? new Map())
  const others = hashFiles(request, [...snapshots], hasher)
  const files = own && others && new Map([...own, ...others])
  const all = new Map<string, string>()
  const isAll = besides === 'all'
  const print =
    isAll || besides === 'fingerprint'
      ? fingerprint(request, hasher, isAll ? (path, hash) => all.set(path, hash) : undefined)
      : undefined
  return {
    fingerprint: print,
    ...(isAll ? { all } : {}),
    files,
    rules: new Set(built.values()),
    snapshots,
    ignored: git && files && besides === 'ignored' ? ignoredAmong(request.root, git, files) : undefined,
    stamps: files && stampsOf(request.root, [...new Set([...files.keys(), ...all.keys()])]),
    tracked: besides === 'tracked' ? trackedFiles(request) : undefined,
  }
}

const ignoredAmong = (root: string, git: Git, files: FileHashes): ReadonlySet<string> =>
  new Set(
    ignoredBy(
      root,
      git,
      [...files.keys()].filter(path => !isAbsolute(path)),
    ).keys(),
  )
