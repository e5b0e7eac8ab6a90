/** Aborts a call after `ms` of silence: `work` calls `heard` at each sign of life. */
export async function abortOnSilence<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal, heard: () => void) => Promise<T>,
): Promise<T> {
  const silent = new AbortController()
  const giveUp = (): void => silent.abort(new Error(`no response for ${ms / 1_000} s`))
  const timer = setTimeout(giveUp, ms)
  const heard = (): void => void timer.refresh()
  try {
    return await work(AbortSignal.any([signal, silent.signal]), heard)
  } catch (error) {
    throw silent.signal.aborted && !signal.aborted ? silent.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for work that takes no signal; rejects when the signal aborts. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
