/** ISO 8601 in UTC with milliseconds, so that text order is time order. */
export type Instant = string

export const instantOf = (ms: number): Instant => new Date(ms).toISOString()

export const plusMs = (at: Instant, ms: number): Instant => instantOf(Date.parse(at) + ms)

/** The clock's time, or `last` plus 1 ms if the clock is behind, so that timestamps strictly increase. */
export const laterThan = (last: Instant | null, clock: Instant): Instant =>
  last === null || last < clock ? clock : plusMs(last, 1)
