import { type Client, createClient, type LiveConversation } from '../src/client/index.ts'

const TOKEN = 'runsheet.token'

/** Trades the code in the address for a token, and leaves neither there. Answers what went wrong, if anything did. */
export async function signIn(): Promise<Error | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const { token } = await createClient({ url: location.origin }).login(code)
    localStorage.setItem(TOKEN, token)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** With room asked for before every stream: a browser has few connections for all its windows. */
export function signedIn(): Client | undefined {
  const token = localStorage.getItem(TOKEN)
  if (token === null) return undefined
  // The same one for the same token: whoever signs in again takes nobody's place away.
  if (known?.token !== token) known = { token, client: clientFor(token) }
  return known.client
}

let known: { readonly token: string; readonly client: Client } | undefined

function clientFor(token: string): Client {
  const client = createClient({ url: location.origin, token })
  return { ...client, live: (id, more) => framed(client.live(id, { ...more, slot: streamSlot })) }
}

/** Tells of changes once a frame, however many come: nobody sees more than that. */
function framed(live: LiveConversation): LiveConversation {
  const subscribe = (listener: () => void): (() => void) => {
    let frame: number | undefined
    const tell = (): void => {
      frame = undefined
      listener()
    }
    const leave = live.subscribe(() => {
      // A window that nobody looks at has no frames.
      if (document.visibilityState === 'hidden') listener()
      else frame ??= requestAnimationFrame(tell)
    })
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      leave()
    }
  }
  return { ...live, subscribe }
}

export function signOut(): void {
  localStorage.removeItem(TOKEN)
}

/** Calls back when another window of this browser has signed in, or this one was given a link. */
export function onSignIn({ link, elsewhere }: { link: () => void; elsewhere: () => void }): () => void {
  const stored = ({ key, newValue }: StorageEvent): void => {
    if (key === TOKEN && newValue !== null) elsewhere()
  }
  window.addEventListener('hashchange', link)
  window.addEventListener('storage', stored)
  return () => {
    window.removeEventListener('hashchange', link)
    window.removeEventListener('storage', stored)
  }
}

/** So many streams this browser holds at once, over all its windows; the others look now and then. */
const SLOTS = [1, 2, 3, 4]

/** Room for one stream, if there is any. A window that is closed, or crashes, gives its own back. */
export async function streamSlot(): Promise<(() => void) | undefined> {
  // Plain HTTP from another machine: no locks there, and each window for itself.
  if (!('locks' in navigator)) return () => {}
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
