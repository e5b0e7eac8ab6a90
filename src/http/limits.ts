import type { Caller } from './credentials.ts'
import { HttpError } from './http-error.ts'

const WINDOW_MS = 60_000

/** Limits how often agents write, so that a runaway agent fills neither the disk nor a person's day. */
export class Limits {
  readonly #perMinute: number
  /** Writes in the current window by tenant; cleared with each window, so it holds only active tenants. */
  readonly #writes = new Map<string, number>()
  #endsAt = 0

  constructor(agentWritesPerMinute: number) {
    this.#perMinute = agentWritesPerMinute
  }

  /** Counts a write. Throws 429 with `Retry-After` if an agent's tenant has used up this minute. */
  write({ role, tenant }: Caller): void {
    if (role === 'person') return
    const now = performance.now()
    if (now >= this.#endsAt) {
      this.#writes.clear()
      this.#endsAt = now + WINDOW_MS
    }
    const writes = this.#writes.get(tenant) ?? 0
    if (writes >= this.#perMinute) throw this.#exceeded(this.#endsAt - now)
    this.#writes.set(tenant, writes + 1)
  }

  #exceeded(leftMs: number): HttpError {
    const headers = { 'retry-after': String(Math.ceil(leftMs / 1_000)) }
    return new HttpError(429, 'rate_limited', `Too many writes. An agent may write ${this.#perMinute} times a minute`, {
      headers,
    })
  }
}
