import type { HostTraits } from './hosts.ts'

/** How long calls wait for a person, and how often they say so. */
export interface WaitLimits {
  /** How long a 2025 call is held. Clients time out after 60 s by default. */
  readonly holdMs: number
  /** How long one round of a 2026 call is held. */
  readonly roundMs: number
  /** Rounds before a 2026 call answers `pending_review`. Clients give up after ten. */
  readonly maxRounds: number
  readonly progressIntervalMs: number
  /** How long an open page gets to show the review before the client is asked as well. */
  readonly panelMs: number
  /** How long a question or an answer waits for the URL of the page. */
  readonly pageUrlMs: number
  /** An answer to a form or a link that comes sooner is a machine's. */
  readonly personMs: number
}

export const DEFAULT_WAIT_LIMITS: WaitLimits = {
  holdMs: 50_000,
  roundMs: 25_000,
  maxRounds: 8,
  progressIntervalMs: 5_000,
  panelMs: 700,
  pageUrlMs: 2_000,
  personMs: 1_000,
}

/** The limits of a host. `sendsProgress`: the client asked for progress, so the call sends some. */
export function limitsOf({ holdMs, progressResetsLimit }: HostTraits, sendsProgress: boolean): Partial<WaitLimits> {
  if (progressResetsLimit && sendsProgress) return { holdMs: Infinity, roundMs: Infinity }
  return holdMs === undefined ? {} : { holdMs, roundMs: holdMs }
}
