import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Limits } from './limits.ts'

const agentOf = (tenant: string) => ({ role: 'agent', tenant }) as const

describe('the writes of an agent', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  const refused = (retryAfter: string) =>
    expect.objectContaining({ status: 429, code: 'rate_limited', headers: { 'retry-after': retryAfter } })

  it('[AU5] one too many is told when the minute is over', () => {
    const limits = new Limits(1)
    limits.write(agentOf('a'))
    for (const [waited, left] of [
      [0, '60'],
      [20_000, '40'],
      [39_500, '1'],
    ] as const) {
      vi.advanceTimersByTime(waited)
      expect(() => limits.write(agentOf('a'))).toThrow(refused(left))
    }
  })

  it('[AU5] are counted anew each minute; refused ones are not counted', () => {
    const limits = new Limits(2)
    for (let minute = 0; minute < 3; minute += 1) {
      limits.write(agentOf('a'))
      limits.write(agentOf('a'))
      for (let more = 0; more < 5; more += 1) expect(() => limits.write(agentOf('a'))).toThrow(refused('60'))
      vi.advanceTimersByTime(60_000)
    }
  })

  it('[AU5] of one tenant do not count against another, and a person is not limited', () => {
    const limits = new Limits(1)
    limits.write(agentOf('a'))
    limits.write(agentOf('b'))
    expect(() => limits.write(agentOf('a'))).toThrow(refused('60'))
    for (let count = 0; count < 3; count += 1) limits.write({ role: 'person', tenant: 'a' })
  })
})
