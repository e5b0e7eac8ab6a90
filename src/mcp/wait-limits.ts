import type { HostTraits } from '../hosts/hosts.ts'

/** How long calls wait for a person, and how often they send progress. */
export interface WaitLimits {
  /** How long a 2025 call is held. Clients time out after 60 s by default. */
  readonly holdMs: number
  /** How long one round of a 2026 call is held. */
  readonly roundMs: number
  /** Rounds before a 2026 call answers `pending_review`. Clients give up after ten. */
  readonly maxRounds: number
  readonly progressIntervalMs: number
  /** How long an open page has to show the review before the client asks as well. */
  readonly panelMs: number
  /** How long a question or an answer waits for the page's URL. */
  readonly pageUrlMs: number
  /** Faster answers to a form or a link come from a machine. */
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

/** `sendsProgress`: the client requested progress. */
export function limitsOf({ holdMs, progressResetsLimit }: HostTraits, sendsProgress: boolean): Partial<WaitLimits> {
  if (progressResetsLimit && sendsProgress) return { holdMs: Infinity, roundMs: Infinity }
  return holdMs === undefined ? {} : { holdMs, roundMs: holdMs }
}
