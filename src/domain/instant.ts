/** A moment as it stands on the wire: ISO 8601 in UTC with milliseconds, so that text order is time order. */
export type Instant = string

export const instantOf = (ms: number): Instant => new Date(ms).toISOString()

export const plusMs = (at: Instant, ms: number): Instant => instantOf(Date.parse(at) + ms)

export const laterOf = (a: Instant, b: Instant): Instant => (a < b ? b : a)
