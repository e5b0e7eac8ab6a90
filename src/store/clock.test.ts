import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StoreClock } from './clock.ts'

const NOON = Date.parse('2026-11-02T12:00:00.000Z')
const HOUR_MS = 3_600_000

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
})
