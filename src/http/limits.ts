import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Credential } from './credentials.ts'
import { HttpError } from './errors.ts'

/** How much an agent may write, so that one that has lost its way fills neither the disk nor a person's day. */
export class Limits {
  readonly #writes: RateLimiterMemory

  constructor(agentWritesPerMinute: number) {
    this.#writes = new RateLimiterMemory({ points: agentWritesPerMinute, duration: 60 })
  }

  async write({ role, tenant }: Credential): Promise<void> {
    if (role === 'person') return
    try {
      await this.#writes.consume(tenant)
    } catch (refused) {
      if (refused instanceof Error) throw refused
      const { msBeforeNext } = refused as { msBeforeNext: number }
      const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000))
      throw new HttpError(429, 'rate_limited', `An agent may write ${this.#writes.points} times a minute.`, {
        headers: { 'retry-after': String(seconds) },
      })
    }
  }
}
