import type { FileHasher } from './file-hash.ts'
import { type FileHashes, type FilesRequest, hashFiles } from './files.ts'
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
}

/** Reads thousands of files without a pause: for a worker. */
export const survey = ({ git, ...request }: SurveyRequest, hasher: FileHasher): Survey => ({
  fingerprint: git && fingerprint({ ...request, git }, hasher),
  files: hashFiles(request, hasher),
})
