import { setTimeout as pause } from 'node:timers/promises'
import { type Failure, failureOf, UnknownModel } from './failure.ts'

/** Attempts at one model call, the first included. */
const MAX_TRIES = 3
const MAX_PAUSE_MS = 30_000

/** A provider failure that retrying did not cure. */
export class Failed extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** Retries transient failures with exponential backoff, or after `Retry-After`. */
export async function withRetries<T>(work: () => Promise<T>, pauseMs: number, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || error instanceof UnknownModel) throw error
      const failure = failureOf(error)
      if (tries >= MAX_TRIES || !failure.again) throw new Failed(failure)
      await pause(Math.min(MAX_PAUSE_MS, failure.afterMs ?? pauseMs * 2 ** (tries - 1)), undefined, { signal })
    }
  }
}

/** Aborts a call once nothing was heard for `ms`. */
export async function abortOnSilence<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal, heard: () => void) => Promise<T>,
): Promise<T> {
  const silent = new AbortController()
  const give = (): void => silent.abort(new Error(`nothing was heard for ${ms / 1_000} s`))
  const timer = setTimeout(give, ms)
  const heard = (): void => void timer.refresh()
  try {
    return await work(AbortSignal.any([signal, silent.signal]), heard)
  } catch (error) {
    throw silent.signal.aborted && !signal.aborted ? silent.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for work that takes no signal, until the signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
