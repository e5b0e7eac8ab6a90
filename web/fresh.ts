/** Conversations that this window has made up and nobody has spoken in. */
const FRESH = new Set<string>()

export function newSession(): string {
  const id = newId('chat')
  FRESH.add(id)
  return id
}

export const isFresh = (id: string): boolean => FRESH.has(id)

/** Also where the page came over plain HTTP from another machine: `randomUUID` is missing there. */
export function newId(kind: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `${kind}-${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`
}
