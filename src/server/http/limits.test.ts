import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Caller } from './access.ts'
import { type Limited, Limits } from './limits.ts'

const agentOf = (tenant: string, name?: string): Caller => ({
  role: 'agent',
  tenant,
  ...(name === undefined ? {} : { name }),
})
const PERSON: Caller = { role: 'person', tenant: 'a' }

const refused = (status: number, code: string, retryAfter: string) =>
  expect.objectContaining({ status, code, headers: { 'retry-after': retryAfter } })

describe.each(['writes', 'reads'] as const)('the %s of an agent', kind => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  const limited = (perMinute: number): Limits =>
    new Limits(kind === 'writes' ? { agentWritesPerMinute: perMinute } : { agentReadsPerMinute: perMinute })
  const rateLimited = (retryAfter: string) => refused(429, 'rate_limited', retryAfter)

  it('[AU5] one too many is told when the minute is over', () => {
    const limits = limited(1)
    limits.count(agentOf('a'), kind)
    for (const [waited, left] of [
      [0, '60'],
      [20_000, '40'],
      [39_500, '1'],
    ] as const) {
      vi.advanceTimersByTime(waited)
      expect(() => limits.count(agentOf('a'), kind)).toThrow(rateLimited(left))
    }
  })

  it('[AU5] are counted anew each minute; refused ones are not counted', () => {
    const limits = limited(2)
    for (let minute = 0; minute < 3; minute += 1) {
      limits.count(agentOf('a'), kind)
      limits.count(agentOf('a'), kind)
      for (let more = 0; more < 5; more += 1) expect(() => limits.count(agentOf('a'), kind)).toThrow(rateLimited('60'))
      vi.advanceTimersByTime(60_000)
    }
  })

  it('[AU5] of one tenant or name do not count against another, and a person is not limited', () => {
    const limits = limited(1)
    limits.count(agentOf('a'), kind)
    limits.count(agentOf('b'), kind)
    limits.count(agentOf('a', 'one'), kind)
    limits.count(agentOf('a', 'two'), kind)
    for (const again of [agentOf('a'), agentOf('b'), agentOf('a', 'one'), agentOf('a', 'two')])
      expect(() => limits.count(again, kind)).toThrow(rateLimited('60'))
    for (let count = 0; count < 3; count += 1) limits.count(PERSON, kind)
  })
})

describe('open requests', () => {
  const tooMany = refused(429, 'too_many_requests', '1')

  it('each credential has its own, and those without one share theirs', () => {
    const limits = new Limits({ maxRequests: 2 })
    for (const caller of [agentOf('a'), agentOf('a', 'one'), agentOf('a', 'two'), agentOf('b'), PERSON, undefined]) {
      const release = limits.open(caller)
      limits.open(caller)
      expect(() => limits.open(caller)).toThrow(tooMany)
      release()
      release()
      limits.open(caller)
      expect(() => limits.open(caller)).toThrow(tooMany)
    }
  })

  it('each refusal is reported by limit and role', () => {
    const seen: [Limited, string][] = []
    const limits = new Limits({ maxRequests: 1, agentWritesPerMinute: 1, agentReadsPerMinute: 1 }, (...refusal) =>
      seen.push(refusal),
    )
    const bot = agentOf('a')
    for (const take of [
      () => limits.count(bot, 'writes'),
      () => limits.count(bot, 'reads'),
      () => limits.open(bot),
      () => limits.open(PERSON),
      () => limits.open(undefined),
    ]) {
      take()
      expect(take).toThrow()
    }
    expect(seen).toEqual([
      ['writes', 'agent'],
      ['reads', 'agent'],
      ['requests', 'agent'],
      ['requests', 'person'],
      ['requests', 'none'],
    ])
  })
})
