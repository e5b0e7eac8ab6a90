import { type Failure, failureOf, UnknownModel } from './failure.ts'

/** A provider that fails is asked three times in all. */
const TRIES = 3
const LONGEST_PAUSE_MS = 30_000

/** What a provider did wrong, once trying again is over. */
export class Failed extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** Tries again what may pass by itself, by `Retry-After` where the provider says so. */
export async function patiently<T>(work: () => Promise<T>, pauseMs: number, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || error instanceof UnknownModel) throw error
      const failure = failureOf(error)
      if (tries >= TRIES || !failure.again) throw new Failed(failure)
      await pause(Math.min(LONGEST_PAUSE_MS, failure.afterMs ?? pauseMs * 2 ** (tries - 1)), signal)
    }
  }
}

/** A model that says nothing for so long is taken for gone: the call is aborted, and what it was says so. */
export async function unlessSilent<T>(
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

/** Waits for something that cannot be told to stop, until we are. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
