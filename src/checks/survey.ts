import type { FileHasher } from './file-hash.ts'
import { type FileHashes, type FilesRequest, hashFiles, type Stamps, stampsOf } from './files.ts'
import type { TrackedFiles } from '../domain/check.ts'
import { fingerprint, type FingerprintRequest, trackedFiles } from './fingerprint.ts'

/** What is to be found out about a workspace. */
export interface SurveyRequest extends FilesRequest, Omit<FingerprintRequest, 'git'> {
  /** Undefined where git is not installed. */
  readonly git: FingerprintRequest['git'] | undefined
  /** Besides the files: a fingerprint, or only what that would cover. */
  readonly besides: 'fingerprint' | 'tracked' | 'nothing'
}

/** How a workspace is at one moment. Undefined is what could not be told. */
export interface Survey {
  readonly fingerprint: string | undefined
  readonly files: FileHashes | undefined
  /** Tells whether one of the files was written to meanwhile, even if it is as before. */
  readonly stamps: Stamps | undefined
  /** What a fingerprint would cover. */
  readonly tracked: TrackedFiles | undefined
}

/** Reads thousands of files without a pause: for a worker. */
export function survey({ git, besides, ...request }: SurveyRequest, hasher: FileHasher): Survey {
  const files = hashFiles(request, hasher)
  return {
    fingerprint: git && besides === 'fingerprint' ? fingerprint({ ...request, git }, hasher) : undefined,
    files,
    stamps: files && stampsOf(request.root, [...files.keys()]),
    tracked: git && besides === 'tracked' ? trackedFiles({ ...request, git }) : undefined,
  }
}
