import type { Caller } from './credentials.ts'

/** Releases what was taken; idempotent. */
export type Release = () => void

/** Names the limit that was hit. `reserve`: the remaining places are reserved for people who hold none. */
export interface Shortage {
  readonly of: 'server' | 'agents' | 'caller' | 'reserve'
  readonly limit: number
}

export const credentialOf = ({ role, tenant, name = '' }: Caller): string => [role, tenant, name].join('\n')

/**
 * Places shared by all callers. Agents together get at most three quarters, so that people always get through; a named
 * caller gets at most half. The last sixteenth is reserved for people who hold none, so that two callers with half each
 * cannot lock out a third.
 */
export class Quota {
  readonly total: number
  readonly #agents: Share
  readonly #each: number
  readonly #reserve: number
  readonly #named = new Map<string, Share>()
  #used = 0

  constructor(total: number) {
    this.total = total
    this.#agents = { used: 0, limit: Math.max(1, Math.floor((total * 3) / 4)) }
    this.#each = Math.max(1, Math.floor(total / 2))
    this.#reserve = Math.floor(total / 16)
  }

  get used(): number {
    return this.#used
  }

  /** Undefined if the caller can take `amount`. */
  shortage(caller: Caller, amount = 1): Shortage | undefined {
    const left = this.total - this.#used - amount
    if (left < 0) return { of: 'server', limit: this.total }
    const { used, limit } = this.#agents
    if (caller.role === 'agent' && used + amount > limit) return { of: 'agents', limit }
    const own = this.#shareOf(caller)
    if (own && own.used + amount > own.limit) return { of: 'caller', limit: own.limit }
    const isNewcomer = caller.role === 'person' && !own?.used
    return left < this.#reserve && !isNewcomer ? { of: 'reserve', limit: this.#reserve } : undefined
  }

  mostFor(caller: Caller): number {
    const all = caller.role === 'agent' ? this.#agents.limit : this.total
    return caller.name === undefined ? all : Math.min(all, this.#each)
  }

  /** Takes `amount` without checking: call `shortage` first. */
  take(caller: Caller, amount = 1): Release {
    this.#add(caller, amount)
    let isHeld = true
    return () => {
      if (isHeld) this.#add(caller, -amount)
      isHeld = false
    }
  }

  #add(caller: Caller, amount: number): void {
    this.#used += amount
    if (caller.role === 'agent') this.#agents.used += amount
    const share = this.#shareOf(caller)
    if (!share) return
    share.used += amount
    const key = credentialOf(caller)
    if (share.used > 0) this.#named.set(key, share)
    else this.#named.delete(key)
  }

  #shareOf(caller: Caller): Share | undefined {
    if (caller.name === undefined) return undefined
    return this.#named.get(credentialOf(caller)) ?? { used: 0, limit: this.#each }
  }
}

interface Share {
  used: number
  readonly limit: number
}
