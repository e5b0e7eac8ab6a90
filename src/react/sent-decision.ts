import type { SentDecision } from '../domain/wire.ts'

/** A decision that this window has sent. */
export interface SentHere {
  readonly reviewId: string
  readonly action: SentDecision['action']
  readonly comment: string
}

const KEY = 'runsheet.sent'

/** The decision on a review that this window sent, also before a reload; the server may have refused it since. */
export function sentBeforeReload(reviewId: string): SentHere | undefined {
  try {
    const sent = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as SentHere | null
    return sent?.reviewId === reviewId ? sent : undefined
  } catch {
    // Storage is blocked or damaged: a decision whose answer is lost in a reload seems to be another window's.
    return undefined
  }
}

/** Remembers the last decision; without one, forgets it. */
export function rememberSent(sent: SentHere | undefined): void {
  try {
    if (sent) sessionStorage.setItem(KEY, JSON.stringify(sent))
    else sessionStorage.removeItem(KEY)
  } catch {
    // Storage is blocked: it is known until the page is reloaded.
  }
}
