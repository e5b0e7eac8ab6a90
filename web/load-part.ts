const RETRY_MS = 1_000
/** Reloads are at least this far apart, should a part be missing for good. */
const MIN_RELOAD_MS = 60_000
const KEY = 'runsheet.reloaded'

/**
 * Loads a part of the page that is not in its first load. Where that fails, because the connection is lost or the server was
 * updated, the page is loaded anew once the server answers: browsers do not fetch a failed module again.
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
