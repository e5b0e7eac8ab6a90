import type { FileHasher } from './file-hash.ts'
import { type FileHashes, type FilesRequest, hashFiles, type Stamps, stampsOf } from './files.ts'
import { fingerprint, type FingerprintRequest } from './fingerprint.ts'

/** What is to be found out about a workspace. */
export interface SurveyRequest extends FilesRequest, Omit<FingerprintRequest, 'git'> {
  /** Undefined where git is not installed. */
  readonly git: FingerprintRequest['git'] | undefined
}

/** How a workspace is at one moment. Undefined is what could not be told. */
export interface Survey {
  readonly fingerprint: string | undefined
  readonly files: FileHashes | undefined
  /** Tells whether one of the files was written to meanwhile, even if it is as before. */
  readonly stamps: Stamps | undefined
}

/** Reads thousands of files without a pause: for a worker. */
export function survey({ git, ...request }: SurveyRequest, hasher: FileHasher): Survey {
  const files = hashFiles(request, hasher)
  return {
    fingerprint: git && fingerprint({ ...request, git }, hasher),
    files,
    stamps: files && stampsOf(request.root, [...files.keys()]),
  }
}
