import type { Caller, Role } from './access.ts'
import { HttpError } from './replies.ts'

/** Limits per credential: its open requests, and how often an agent may ask. */
export interface LimitOptions {
  /** Open requests per credential, event streams and calls that wait included. Default 2,000. */
  readonly maxRequests?: number
  /** Writes per minute and agent. Default 600. */
  readonly agentWritesPerMinute?: number
  /** Reads per minute and agent. Default 6,000. */
  readonly agentReadsPerMinute?: number
}

export type Limited = 'requests' | 'writes' | 'reads'
/** `none`: a request without a credential. */
export type Refused = Role | 'none'

/** Gives back what was taken; idempotent. */
export type Release = () => void

export const credentialOf = ({ role, tenant, name = '' }: Caller): string => [role, tenant, name].join('\n')

/** Keeps one caller from using up the server. */
export class Limits {
  readonly #maxRequests: number
  /** Open requests by credential. */
  readonly #open = new Map<string, number>()
  readonly #writes: Rate
  readonly #reads: Rate
  readonly #onRefused: (what: Limited, role: Refused) => void

  constructor(options: LimitOptions = {}, onRefused: (what: Limited, role: Refused) => void = () => {}) {
    this.#maxRequests = options.maxRequests ?? 2_000
    this.#writes = new Rate(options.agentWritesPerMinute ?? 600)
    this.#reads = new Rate(options.agentReadsPerMinute ?? 6_000)
    this.#onRefused = onRefused
  }

  /** Counts a request until it is released; throws 429 if the credential has too many. */
  open(caller: Caller | undefined): Release {
    const credential = caller ? credentialOf(caller) : 'none'
    const count = this.#open.get(credential) ?? 0
    if (count >= this.#maxRequests) {
      const message = `Too many open requests: at most ${shown(this.#maxRequests)}, event streams and calls that wait included. Close one, or try again in a moment.`
      throw this.#refused('requests', caller?.role ?? 'none', 'too_many_requests', message, RETRY_S)
    }
    this.#open.set(credential, count + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      const left = (this.#open.get(credential) ?? 0) - 1
      if (left > 0) this.#open.set(credential, left)
      else this.#open.delete(credential)
    }
  }

  /** Throws 429 if an agent exceeds its rate; people are not limited. */
  count(caller: Caller, kind: 'writes' | 'reads'): void {
    if (caller.role === 'person') return
    const rate = kind === 'writes' ? this.#writes : this.#reads
    const waitMs = rate.count(credentialOf(caller))
    if (waitMs === undefined) return
    const seconds = Math.ceil(waitMs / 1_000)
    const message = `Too many ${kind}: an agent may make ${shown(rate.perMinute)} a minute. Try again in ${seconds} s.`
    throw this.#refused(kind, caller.role, 'rate_limited', message, seconds)
  }

  #refused(what: Limited, role: Refused, code: string, message: string, afterS: number): HttpError {
    this.#onRefused(what, role)
    return new HttpError(429, code, message, { headers: { 'retry-after': String(afterS) } })
  }
}

const WINDOW_MS = 60_000

export class Rate {
  readonly perMinute: number
  /** Cleared with each window, so it holds only active keys. */
  readonly #counts = new Map<string, number>()
  #endsAt = 0

  constructor(perMinute: number) {
    this.perMinute = perMinute
  }

  /** Counts one; returns the milliseconds until the next window if this one is used up. */
  count(key: string): number | undefined {
    const now = performance.now()
    if (now >= this.#endsAt) {
      this.#counts.clear()
      this.#endsAt = now + WINDOW_MS
    }
    const count = this.#counts.get(key) ?? 0
    if (count >= this.perMinute) return this.#endsAt - now
    this.#counts.set(key, count + 1)
    return undefined
  }
}

const RETRY_S = 1

const shown = (count: number): string => count.toLocaleString('en')
