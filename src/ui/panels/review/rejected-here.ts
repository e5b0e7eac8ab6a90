const KEY = 'runsheet.rejected'
const listeners = new Set<() => void>()

/** Kept in sessionStorage, so that a rejection survives a reload until it is sent or undone. */
export function rejectedHere(): string | undefined {
  try {
    return sessionStorage.getItem(KEY)?.split(' ')[0]
  } catch {
    return undefined
  }
}

export const isRejectedHere = (reviewId: string): boolean => rejectedHere() === reviewId

export function rejectedAt(): number | undefined {
  const at = Number(sessionStorage.getItem(KEY)?.split(' ')[1])
  return at > 0 ? at : undefined
}

export function rememberRejection(reviewId: string, at: number): void {
  try {
    sessionStorage.setItem(KEY, `${reviewId} ${at}`)
  } catch {
    // Storage is blocked: the rejection is sent when the page is left.
  }
  for (const changed of listeners) changed()
}

export function forgetRejection(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Storage is blocked: nothing was saved.
  }
  for (const changed of listeners) changed()
}

export function onRejectedHere(changed: () => void): () => void {
  listeners.add(changed)
  return () => void listeners.delete(changed)
}
