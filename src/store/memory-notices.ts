import type { StoredEvent } from '../domain/event.ts'
import { isTold } from '../domain/notice.ts'
import type { StoreClock } from './clock.ts'
import { type Notices, type Ref, refKey, type TakenNotice } from './store.ts'

interface Kept extends TakenNotice {
  /** In elapsed milliseconds. */
  readonly dueAt: number
}

/** Notices in memory. */
export class MemoryNotices implements Notices {
  readonly #clock: StoreClock
  readonly #kept = new Map<string, Kept>()
  /** Tenant to when nobody wants its notices any more, in elapsed milliseconds. */
  readonly #wanted = new Map<string, number>()

  constructor(clock: StoreClock) {
    this.#clock = clock
  }

  add({ tenant, conversation }: Ref, events: readonly StoredEvent[]): void {
    if ((this.#wanted.get(tenant) ?? 0) <= this.#clock.elapsed()) return
    for (const { seq } of events.filter(isTold)) {
      const notice = { tenant, conversation, seq, tries: 0, dueAt: 0 }
      this.#kept.set(keyOf(notice), notice)
    }
  }

  async want(tenant: string, forMs: number): Promise<void> {
    this.#wanted.set(tenant, this.#clock.elapsed() + forMs)
  }

  async take(tenant: string, limit: number, forMs: number): Promise<readonly TakenNotice[]> {
    const now = this.#clock.elapsed()
    const due = this.#of(tenant).filter(({ dueAt }) => dueAt <= now)
    return due.slice(0, limit).map(notice => {
      const taken = { ...notice, tries: notice.tries + 1, dueAt: now + forMs }
      this.#kept.set(keyOf(notice), taken)
      const { dueAt: _, ...rest } = taken
      return rest
    })
  }

  async settle(notice: TakenNotice, retryInMs?: number): Promise<boolean> {
    const key = keyOf(notice)
    const kept = this.#kept.get(key)
    if (kept?.tries !== notice.tries) return false
    if (retryInMs === undefined) this.#kept.delete(key)
    else this.#kept.set(key, { ...kept, dueAt: this.#clock.elapsed() + retryInMs })
    return true
  }

  async waiting(tenant: string): ReturnType<Notices['waiting']> {
    const kept = this.#of(tenant)
    const [next] = kept
    return { count: kept.length, ...(next ? { dueInMs: Math.max(0, next.dueAt - this.#clock.elapsed()) } : {}) }
  }

  /** Those of a tenant, soonest first. */
  #of(tenant: string): Kept[] {
    return [...this.#kept.values()].filter(each => each.tenant === tenant).sort((a, b) => a.dueAt - b.dueAt)
  }
}

const keyOf = (notice: TakenNotice): string => `${refKey(notice)}/${notice.seq}`
