import type { SentDecision } from '../../../core/views/wire.ts'

export interface SentHere {
  readonly reviewId: string
  readonly action: SentDecision['action']
  readonly comment: string
}

const KEY = 'runsheet.sent'

/** Survives a reload. The server may have refused the decision since. */
export function sentBeforeReload(reviewId: string): SentHere | undefined {
  try {
    const sent = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as SentHere | null
    return sent?.reviewId === reviewId ? sent : undefined
  } catch {
    // Storage is blocked or damaged: if a reload loses the answer, the decision looks like another window's.
    return undefined
  }
}

export function rememberSent(sent: SentHere | undefined): void {
  try {
    if (sent) sessionStorage.setItem(KEY, JSON.stringify(sent))
    else sessionStorage.removeItem(KEY)
  } catch {
    // Storage is blocked: the decision is known only until a reload.
  }
}
