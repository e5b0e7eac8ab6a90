/** How long each wait may last, in milliseconds. All follow from one figure. */
export interface Limits {
  /** A call, from its arrival to its answer: queueing, locks and retries included. */
  readonly callMs: number
  /** A call that is repeated by itself: claims, renewals, deadlines, polls, hints. The next one is due soon. */
  readonly lookMs: number
  readonly connectMs: number
  /** The first sign of life from a connection; doubled with each retry. */
  readonly silenceMs: number
  /** A lock that others hold: the server gives up before we do, so that we learn why. */
  readonly lockMs: number
  /** How long a transaction may hold its locks without a statement: shorter than others wait for a lock. */
  readonly idleInTransactionMs: number
}

/** Leaves a second of the five that a request may take. */
export const TIMEOUT_MS = 4_000

/** How much earlier than we the server gives up waiting for a lock. */
export const LOCK_MARGIN_MS = 250

/** How long it is until then, by `performance.now()`. Never negative: Node warns of such a timer. */
export const msUntil = (until: number): number => Math.max(0, until - performance.now())

export const limitsOf = (timeoutMs: number): Limits => ({
  callMs: timeoutMs,
  lookMs: Math.min(timeoutMs, 2_000),
  connectMs: timeoutMs / 2,
  silenceMs: timeoutMs / 4,
  lockMs: Math.max(1, Math.floor(timeoutMs - LOCK_MARGIN_MS)),
  idleInTransactionMs: Math.round(timeoutMs / 2),
})
