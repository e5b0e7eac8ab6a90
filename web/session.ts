import { type Client, createClient } from '../src/client/index.ts'

const TOKEN = 'runsheet.token'

/** Trades the code in the address for a token, and leaves neither there. Answers what went wrong, if anything did. */
export async function signIn(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const { token } = await createClient({ url: location.origin }).login(code)
    localStorage.setItem(TOKEN, token)
    return undefined
  } catch (error) {
    return signedIn() ? undefined : (error as Error).message
  }
}

export function signedIn(): Client | undefined {
  const token = localStorage.getItem(TOKEN)
  return token === null ? undefined : createClient({ url: location.origin, token })
}

export function signOut(): void {
  localStorage.removeItem(TOKEN)
}

/** So many streams this browser holds at once, over all its windows; the others look now and then. */
const SLOTS = [1, 2, 3, 4]

/** Room for one stream, if there is any. A window that is closed, or crashes, gives its own back. */
export async function streamSlot(): Promise<(() => void) | undefined> {
  for (const slot of SLOTS) {
    const release = await held(`runsheet-stream-${slot}`)
    if (release) return release
  }
  return undefined
}

function held(name: string): Promise<(() => void) | undefined> {
  return new Promise(resolve => {
    void navigator.locks.request(name, { ifAvailable: true }, lock => {
      if (!lock) return resolve(undefined)
      return new Promise<void>(release => resolve(() => release()))
    })
  })
}
