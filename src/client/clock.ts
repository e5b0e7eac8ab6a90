/** A second that the `Date` of an answer leaves open. */
const SECOND_MS = 1_000

/**
 * The server's time, as far as its answers tell: each was dated after it was asked for and before it came. One's own
 * clock is gone by as long as that fits, so that a slow answer, or none with a date, changes nothing.
 */
export class ServerClock {
  #ahead = 0

  readonly now = (): number => Date.now() + this.#ahead

  /** The same `fetch`, with an eye on when it was answered. */
  watched(fetch: typeof globalThis.fetch | undefined): typeof globalThis.fetch {
    return async (...request) => {
      const asked = Date.now()
      const response = await (fetch ?? globalThis.fetch)(...request)
      const dated = Date.parse(response.headers.get('date') ?? '')
      const atLeast = dated - Date.now()
      const atMost = dated + SECOND_MS - asked
      // Neither where there is no date, nor where the clock was set while the answer was on its way.
      if (atLeast <= atMost) this.#ahead = Math.min(Math.max(this.#ahead, atLeast), atMost)
      return response
    }
  }
}
