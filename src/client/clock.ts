/** The `Date` header counts whole seconds. */
const SECOND_MS = 1_000

/**
 * The server's time, as far as its answers tell: each `Date` lies between request and response. The local clock holds
 * as long as it fits, so that a slow answer, or one without a date, changes nothing.
 */
export class ServerClock {
  #ahead = 0

  readonly now = (): number => Date.now() + this.#ahead

  /** A `fetch` that reads the date of each answer. */
  watched(fetch: typeof globalThis.fetch | undefined): typeof globalThis.fetch {
    return async (...request) => {
      const asked = Date.now()
      const response = await (fetch ?? globalThis.fetch)(...request)
      const dated = Date.parse(response.headers.get('date') ?? '')
      const atLeast = dated - Date.now()
      const atMost = dated + SECOND_MS - asked
      // False without a date, and if the local clock was set back in between.
      if (atLeast <= atMost) this.#ahead = Math.min(Math.max(this.#ahead, atLeast), atMost)
      return response
    }
  }
}
