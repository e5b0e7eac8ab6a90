import { createContext, useContext } from 'react'
import { type Client, createClient, type LiveConversation } from 'runsheet/client'

const TOKEN = 'runsheet.token'

/** Trades the code in the URL for a token and removes the code from the URL. */
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

/** Returns the same object while the token is the same. */
export function signedInClient(): Client | undefined {
  const token = localStorage.getItem(TOKEN)
  if (token === null) return undefined
  if (current?.token !== token) current = { token, client: pageClient(token) }
  return current.client
}

let current: { readonly token: string; readonly client: Client } | undefined

export function signOut(): void {
  localStorage.removeItem(TOKEN)
}

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

/** Live conversations share the browser's few connections and update at most once per frame. */
function pageClient(token: string): Client {
  const client = createClient({ url: location.origin, token })
  return { ...client, live: (id, options) => oncePerFrame(client.live(id, { ...options, slot: streamSlot })) }
}

function oncePerFrame(live: LiveConversation): LiveConversation {
  const subscribe = (listener: () => void): (() => void) => {
    let frame: number | undefined
    const notify = (): void => {
      frame = undefined
      listener()
    }
    const unsubscribe = live.subscribe(() => {
      // Hidden windows have no animation frames.
      if (document.visibilityState === 'hidden') listener()
      else frame ??= requestAnimationFrame(notify)
    })
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      unsubscribe()
    }
  }
  return { ...live, subscribe }
}

/** Streams per browser, over all its windows. Windows without a slot poll. */
const SLOTS = [1, 2, 3, 4]

/** Resolves to the release function, or to undefined if all slots are taken. Closing a window frees its slot. */
async function streamSlot(): Promise<(() => void) | undefined> {
  // Insecure origins have no locks: each window opens its own stream.
  if (!('locks' in navigator)) return () => {}
  for (const slot of SLOTS) {
    const release = await tryLock(`runsheet-stream-${slot}`)
    if (release) return release
  }
  return undefined
}

function tryLock(name: string): Promise<(() => void) | undefined> {
  return new Promise(resolve => {
    void navigator.locks.request(name, { ifAvailable: true }, lock => {
      if (!lock) return resolve(undefined)
      return new Promise<void>(release => resolve(() => release()))
    })
  })
}

export const ClientContext = createContext<Client | undefined>(undefined)

export function useClient(): Client {
  const client = useContext(ClientContext)
  if (!client) throw new Error('The page is not signed in.')
  return client
}
