const KEY = 'runsheet.fresh'

/** Conversations that this window has made up and nobody has spoken in: there is nothing to ask the server about. */
const fresh = new Set<string>(sessionStorage.getItem(KEY)?.split(' '))

export function newSession(): string {
  const id = newId('chat')
  fresh.add(id)
  keep()
  return id
}

export const isFresh = (id: string): boolean => fresh.has(id)

export function spokenIn(id: string): void {
  if (fresh.delete(id)) keep()
}

const keep = (): void => sessionStorage.setItem(KEY, [...fresh].slice(-20).join(' '))

/** Also where the page came over plain HTTP from another machine: `randomUUID` is missing there. */
export function newId(kind: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `${kind}-${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`
}
