import { type Client, createClient } from 'runsheet/client'
import { pageClient } from './page-client.ts'

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
