import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Limits } from './limits.ts'

const agentOf = (tenant: string) => ({ role: 'agent', tenant }) as const

describe('the writes of an agent', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  it('[AU5] one too many is told when the minute is over', async () => {
    const limits = new Limits(1)
    await limits.write(agentOf('a'))
    for (const [waited, left] of [
      [0, '60'],
      [20_000, '40'],
      [39_500, '1'],
    ] as const) {
      vi.advanceTimersByTime(waited)
      await expect(limits.write(agentOf('a'))).rejects.toMatchObject({ status: 429, headers: { 'retry-after': left } })
    }
  })

  it('[AU5] of one tenant do not count against another', async () => {
    const limits = new Limits(1)
    await limits.write(agentOf('a'))
    await limits.write(agentOf('b'))
    await expect(limits.write(agentOf('a'))).rejects.toMatchObject({ code: 'rate_limited' })
  })
})
