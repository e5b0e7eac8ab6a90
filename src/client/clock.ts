/** The `Date` header has a resolution of one second. */
const SECOND_MS = 1_000

/**
 * Estimates the server's clock: each `Date` lies between request and response. The offset changes only when it no
 * longer fits, so slow responses and responses without a date have no effect.
 */
export class ServerClock {
  #ahead = 0

  readonly now = (): number => Date.now() + this.#ahead

  watched(fetch: typeof globalThis.fetch | undefined): typeof globalThis.fetch {
    return async (...request) => {
      const asked = Date.now()
      const response = await (fetch ?? globalThis.fetch)(...request)
      const dated = Date.parse(response.headers.get('date') ?? '')
      const atLeast = dated - Date.now()
      const atMost = dated + SECOND_MS - asked
      // False without a date, or if the local clock was set back during the request.
      if (atLeast <= atMost) this.#ahead = Math.min(Math.max(this.#ahead, atLeast), atMost)
      return response
    }
  }
}
