/** Conversations that this window has made up and nobody has spoken in. */
const FRESH = new Set<string>()

export function newSession(): string {
  const id = `chat-${crypto.randomUUID()}`
  FRESH.add(id)
  return id
}

export const isFresh = (id: string): boolean => FRESH.has(id)
