import { Worker } from 'node:worker_threads'
import type { Survey, SurveyRequest } from './survey.ts'

interface Waiting {
  readonly resolve: (survey: Survey) => void
  readonly reject: (error: unknown) => void
}

let worker: Worker | undefined
let lastId = 0
const waiting = new Map<number, Waiting>()

/**
 * Surveys a workspace in a worker thread, one per process. Rejects if the thread dies; the next call starts another.
 */
export function surveyed(request: SurveyRequest): Promise<Survey> {
  const asked = (worker ??= started())
  lastId += 1
  const id = lastId
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject })
    asked.ref()
    asked.postMessage({ id, request }, [])
  })
}

/** The worker gets none of our environment, and does not keep the process alive while idle. */
function started(): Worker {
  const next = new Worker(new URL('./worker.ts', import.meta.url), { env: {}, name: 'runsheet-checks' })
  next.on('message', ({ id, survey }: { id: number; survey: Survey }) => {
    waiting.get(id)?.resolve(survey)
    waiting.delete(id)
    if (waiting.size === 0) next.unref()
  })
  const onEnd = (error: unknown): void => {
    // `error` comes before `exit`; another worker may have been started in between.
    if (worker !== next) return
    worker = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  next.on('error', onEnd)
  next.on('exit', code => onEnd(new Error(`The worker that reads files ended with code ${code}.`)))
  return next
}
