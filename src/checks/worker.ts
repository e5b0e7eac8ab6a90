import { parentPort } from 'node:worker_threads'
import { FileHasher } from './file-hash.ts'
import { survey, type SurveyRequest } from './survey.ts'

interface Numbered {
  readonly id: number
  readonly request: SurveyRequest
}

// Hashes files off the event loop, and caches the hashes between surveys.
const hasher = new FileHasher()
parentPort?.on('message', ({ id, request }: Numbered) =>
  parentPort?.postMessage({ id, survey: survey(request, hasher) }, []),
)
