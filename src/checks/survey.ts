import { isAbsolute } from 'node:path'
import type { FileHasher } from './file-hash.ts'
import { builtFiles } from './built-files.ts'
import { type FileHashes, filesOf, type FilesRequest, hashFiles, type Stamps, stampsOf } from './files.ts'
import { namedSnapshots } from './named-snapshots.ts'
import type { TrackedFiles } from '../domain/check.ts'
import { fingerprint, type FingerprintRequest, trackedFiles } from './fingerprint.ts'
import { type Git, ignoredBy } from './git-files.ts'

export interface SurveyRequest extends FilesRequest, FingerprintRequest {
  /** Globs of files to include even if they are build output. */
  readonly named: readonly string[]
  /** In addition to the files: a fingerprint, only the files it would cover, or which files are ignored. */
  readonly besides: 'all' | 'fingerprint' | 'tracked' | 'ignored' | 'nothing'
}

/** A workspace at one moment. Fields are undefined if unknown. */
export interface Survey {
  readonly fingerprint: string | undefined
  readonly files: FileHashes | undefined
  /** Reveal writes to a file in between, even if its content was restored. */
  readonly stamps: Stamps | undefined
  readonly rules: ReadonlySet<string>
  readonly snapshots: ReadonlySet<string>
  readonly ignored: ReadonlySet<string> | undefined
  /** With `all`: hashes of all files that the fingerprint covers. */
  readonly all?: FileHashes
  readonly tracked: TrackedFiles | undefined
}

/** Reads thousands of files synchronously, so it runs in a worker. */
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
