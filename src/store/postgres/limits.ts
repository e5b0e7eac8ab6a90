export interface Limits {
  readonly callMs: number
  /**
   * A call that repeats anyway: claims, renewals, deadlines, polls, hints. Shorter, because the next one is due soon.
   */
  readonly lookMs: number
  readonly connectMs: number
  /** The first response on a connection; doubled with each retry. */
  readonly silenceMs: number
  /** A lock wait. The server gives up before we do, so that we learn the reason. */
  readonly lockMs: number
  /** How long a transaction may hold its locks while idle: shorter than the lock timeout of others. */
  readonly idleInTransactionMs: number
}

/** Leaves one second of a request's five. */
export const TIMEOUT_MS = 4_000

/** How much earlier than us the server gives up on a lock. */
export const LOCK_MARGIN_MS = 250

/** Never negative: Node warns about such a timer. */
export const msUntil = (until: number): number => Math.max(0, until - performance.now())

export const limitsOf = (timeoutMs: number): Limits => ({
  callMs: timeoutMs,
  lookMs: Math.min(timeoutMs, 2_000),
  connectMs: timeoutMs / 2,
  silenceMs: timeoutMs / 4,
  lockMs: Math.max(1, Math.floor(timeoutMs - LOCK_MARGIN_MS)),
  idleInTransactionMs: Math.round(timeoutMs / 2),
})
