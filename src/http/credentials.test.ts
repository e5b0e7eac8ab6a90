import { afterEach, describe, expect, it, vi } from 'vitest'
import { Login } from './credentials.ts'

const HOUR = 3_600_000

describe('a login code', () => {
  afterEach(() => void vi.useRealTimers())

  it('[AU1] is good for an hour, and no longer', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const codes = new Login('a-token')
    const [used, forgotten] = [codes.issue(), codes.issue()]
    vi.advanceTimersByTime(HOUR - 1)
    expect(codes.redeem(used)).toBe('a-token')
    vi.advanceTimersByTime(1)
    expect(codes.redeem(forgotten)).toBeUndefined()
  })
})
