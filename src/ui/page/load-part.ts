const RETRY_MS = 1_000

/** Minimum time between reloads, in case a part is missing for good. */
const MIN_RELOAD_MS = 60_000

const KEY = 'runsheet.reloaded'

/**
 * Loads a lazy part. After a lost connection or a server update it reloads the page once the server answers, because
 * browsers cache failed module imports.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    while (!(await isReachable()) || Date.now() - Number(sessionStorage.getItem(KEY)) < MIN_RELOAD_MS) {
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
    }
    sessionStorage.setItem(KEY, String(Date.now()))
    location.reload()
    return new Promise(() => {})
  }
}

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch('./icon.svg', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}
