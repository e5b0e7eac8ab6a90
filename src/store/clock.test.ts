import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StoreClock } from './clock.ts'
import type { Ref } from './store.ts'

const NOON = Date.parse('2026-11-02T12:00:00.000Z')
const HOUR_MS = 3_600_000
const [c1, c2] = ['c1', 'c2'].map(conversation => ({ tenant: 'local', conversation })) as [Ref, Ref]

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'], now: NOON }))
afterEach(() => void vi.useRealTimers())

/** Sets the wall clock; the monotonic clock goes on. */
const jump = (ms: number): void => void vi.setSystemTime(Date.now() + ms)
const after = (ms: number): string => new Date(NOON + ms).toISOString()

/** A clock, and whether a review waits. */
function watched() {
  const reviews = { wait: true }
  return { reviews, clock: new StoreClock({ isAwaited: () => reviews.wait }) }
}

describe("a store's clock", () => {
  it('[DO6] is the wall clock, also where that is slewed', () => {
    const { clock } = watched()
    for (let second = 1; second <= 100; second += 1) {
      vi.advanceTimersByTime(1_000)
      jump(50)
      expect(clock.now()).toBe(after(second * 1_050))
    }
  })

  it.each([HOUR_MS, -HOUR_MS])('[DO6] follows a jump of %i ms once no deadline is pending', ms => {
    const { clock, reviews } = watched()
    jump(ms)
    vi.advanceTimersByTime(5_000)
    expect(clock.now()).toBe(after(5_000))
    reviews.wait = false
    expect(clock.now()).toBe(after(5_000 + ms))
    reviews.wait = true
    vi.advanceTimersByTime(5_000)
    expect(clock.now()).toBe(after(10_000 + ms))
  })

  it('a log that is ahead has its own time, which goes on from its end; elsewhere it is not later', () => {
    const { clock } = watched()
    expect(clock.nowIn(c1, after(HOUR_MS))).toBe(after(HOUR_MS))
    vi.advanceTimersByTime(2_000)
    expect(clock.aheadMs(c1, null)).toBe(HOUR_MS)
    expect(clock.nowIn(c1, after(HOUR_MS + 1_000))).toBe(after(HOUR_MS + 2_000))
    expect(clock.nowIn(c2, after(0))).toBe(after(2_000))
    expect(clock.now()).toBe(after(2_000))
  })

  it('a log has the common time again once the clock has caught up with it', () => {
    const { clock, reviews } = watched()
    reviews.wait = false
    clock.nowIn(c1, after(HOUR_MS))
    jump(2 * HOUR_MS)
    expect(clock.nowIn(c1, after(HOUR_MS))).toBe(after(2 * HOUR_MS))
    expect(clock.hasLogsAhead).toBe(false)
  })

  it('a log behind it does not matter', () => {
    const { clock } = watched()
    expect(clock.nowIn(c1, after(-HOUR_MS))).toBe(after(0))
    expect(clock.hasLogsAhead).toBe(false)
  })

  it('measures by the monotonic clock', () => {
    const { clock } = watched()
    const since = clock.elapsed()
    jump(HOUR_MS)
    vi.advanceTimersByTime(10)
    expect(clock.elapsed() - since).toBe(10)
  })
})
