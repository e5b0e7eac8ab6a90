import type { Caller } from './credentials.ts'

/** Gives back what was taken; further calls do nothing. */
export type Release = () => void

/**
 * The limit that leaves no room, and whose it is: the whole server's, all agents', the caller's own, or what is left is
 * reserved for people who have nothing yet.
 */
export interface Shortage {
  readonly of: 'server' | 'agents' | 'caller' | 'reserve'
  readonly limit: number
}

/** A caller's credential: its role and tenant, and its name where the host application gives it one. */
export const credentialOf = ({ role, tenant, name = '' }: Caller): string => [role, tenant, name].join('\n')

/**
 * A number of places that all callers share. Agents together get three quarters of them, so that people always get
 * through; a caller that has a name gets half. The last sixteenth is for people who hold none: several who take their
 * half must not keep out another one.
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

  /** What prevents this caller from taking so many; undefined if nothing does. */
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

  /** The most that this caller could ever hold. */
  mostFor(caller: Caller): number {
    const all = caller.role === 'agent' ? this.#agents.limit : this.total
    return caller.name === undefined ? all : Math.min(all, this.#each)
  }

  /** Takes so many for a caller, whether or not there is room: ask `shortage` first. */
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
