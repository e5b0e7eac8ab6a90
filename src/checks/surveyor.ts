import { Worker } from 'node:worker_threads'
import type { CompareRequest, Comparison, Look, LookRequest, Surveyor } from './survey.ts'

interface Waiting {
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

let worker: Worker | undefined
let lastId = 0
const waiting = new Map<number, Waiting>()

/** Looks at a workspace. With `unchanged`, also compares the files that these globs match with the first record. */
export const looked = (look: LookRequest, unchanged?: readonly string[]): Promise<Look> =>
  asked('look', look, unchanged)

export const compared = (compare: CompareRequest): Promise<Comparison> => asked('compare', compare)

/** Asks a worker thread, one per process. Rejects if the thread dies; the next call starts another. */
function asked<T>(method: keyof Surveyor, ...args: readonly unknown[]): Promise<T> {
  const running = (worker ??= started())
  lastId += 1
  const id = lastId
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve, reject })
    running.ref()
    running.postMessage({ id, method, args }, [])
  })
}

/** The worker gets none of our environment, and does not keep the process alive while idle. */
function started(): Worker {
  const next = new Worker(new URL('./worker.ts', import.meta.url), { env: {}, name: 'runsheet-checks' })
  next.on('message', ({ id, answer, error }: { id: number; answer?: unknown; error?: unknown }) => {
    const caller = waiting.get(id)
    waiting.delete(id)
    if (waiting.size === 0) next.unref()
    if (error === undefined) caller?.resolve(answer as never)
    else caller?.reject(error)
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
