import { Worker } from 'node:worker_threads'
import type { Survey, SurveyRequest } from './survey.ts'

/** What cannot be told if the worker dies. */
const UNKNOWN: Survey = { fingerprint: undefined, files: undefined, stamps: undefined }

let worker: Worker | undefined
let lastId = 0
const waiting = new Map<number, (survey: Survey) => void>()

/** Looks at a workspace in a worker thread, one for the whole process. Never rejects. */
export function surveyed(request: SurveyRequest): Promise<Survey> {
  worker ??= started()
  lastId += 1
  const id = lastId
  return new Promise(resolve => {
    waiting.set(id, resolve)
    worker?.ref()
    worker?.postMessage({ id, request }, [])
  })
}

/** It gets none of our environment, and does not keep the process alive while it is idle. */
function started(): Worker {
  const next = new Worker(new URL('./worker.ts', import.meta.url), { env: {}, name: 'runsheet-checks' })
  next.on('message', ({ id, survey }: { id: number; survey: Survey }) => settle(id, survey))
  next.on('error', () => {})
  next.on('exit', () => {
    if (worker === next) worker = undefined
    for (const id of waiting.keys()) settle(id, UNKNOWN)
  })
  return next
}

function settle(id: number, survey: Survey): void {
  waiting.get(id)?.(survey)
  waiting.delete(id)
  if (waiting.size === 0) worker?.unref()
}
