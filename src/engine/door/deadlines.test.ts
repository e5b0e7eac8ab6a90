import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { instantOf } from '../../core/model/instant.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { DueReview, Store } from '../../store/store.ts'
import { Deadlines } from './deadlines.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Deadlines over a store with reviews that fall due after these milliseconds; those that are held expire later. */
function watching(held: Readonly<Record<string, Promise<void>>>, ...dueIn: readonly number[]) {
  const start = Date.now()
  const due = new Map(dueIn.map((ms, index) => [`rev-${index}`, start + ms]))
  const expired: string[] = []
  let looks = 0
  const store: Pick<Store, 'due' | 'now'> = {
    now: async () => instantOf(Date.now()),
    due: async () => {
      looks += 1
      const ready = [...due].filter(([, at]) => at <= Date.now())
      const next = Math.min(...[...due.values()].filter(at => at > Date.now()))
      const reviews = ready.map(([review_id]): DueReview => ({ tenant: 'local', conversation: 'c', review_id }))
      return { reviews, ...(Number.isFinite(next) ? { next: instantOf(next) } : {}) }
    },
  }
  const expire = async ({ review_id }: DueReview): Promise<void> => {
    await held[review_id]
    due.delete(review_id)
    expired.push(review_id)
  }
  const deadlines = new Deadlines(Object.assign(openMemoryStore(), store), expire, () => {})
  return { deadlines, expired, looks: () => looks, add: (id: string, ms: number) => due.set(id, Date.now() + ms) }
}

describe('deadlines', () => {
  it('[DO6] expires overdue reviews at the start', async () => {
    const { expired, deadlines } = watching({}, -1_000, 60_000)
    await vi.advanceTimersByTimeAsync(1)
    expect(expired).toEqual(['rev-0'])
    await deadlines.stop()
  })

  it('[DO6] expires the next review on time, not at the next poll', async () => {
    const { expired, deadlines } = watching({}, 500)
    await vi.advanceTimersByTimeAsync(499)
    expect(expired).toEqual([])
    await vi.advanceTimersByTimeAsync(2)
    expect(expired).toEqual(['rev-0'])
    await deadlines.stop()
  })

  it('[DO6] expires a review of this process on time', async () => {
    const { expired, deadlines, add } = watching({})
    await vi.advanceTimersByTimeAsync(10)
    add('rev-new', 300)
    deadlines.within(300)
    await vi.advanceTimersByTimeAsync(301)
    expect(expired).toEqual(['rev-new'])
    await deadlines.stop()
  })

  it('[DO6] finds the review of a dead process by polling', async () => {
    const { expired, deadlines, add } = watching({})
    await vi.advanceTimersByTimeAsync(10)
    add('rev-foreign', 100)
    await vi.advanceTimersByTimeAsync(2_100)
    expect(expired).toEqual(['rev-foreign'])
    await deadlines.stop()
  })

  it('[DO6] a review that takes long to expire, as its conversation is locked, delays no other', async () => {
    const locked = Promise.withResolvers<void>()
    const { expired, deadlines, looks } = watching({ 'rev-0': locked.promise }, -1_000, 500)
    await vi.advanceTimersByTimeAsync(501)
    expect(expired).toEqual(['rev-1'])
    const before = looks()
    await vi.advanceTimersByTimeAsync(4_000)
    expect(looks()).toBeGreaterThan(before)
    locked.resolve()
    await vi.advanceTimersByTimeAsync(1)
    // Once, though it was due at each look.
    expect(expired).toEqual(['rev-1', 'rev-0'])
    await deadlines.stop()
  })

  it('[DO6] a thousand pending reviews cost one poll every two seconds, and none after stop', async () => {
    const { looks, deadlines } = watching({}, ...Array.from({ length: 1_000 }, () => 3_600_000))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(looks()).toBeLessThan(13)
    await deadlines.stop()
    const before = looks()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(looks()).toBe(before)
  })
})
