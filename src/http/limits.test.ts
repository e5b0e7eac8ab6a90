import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Caller } from './credentials.ts'
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
    limits.request(agentOf('a'), kind)
    for (const [waited, left] of [
      [0, '60'],
      [20_000, '40'],
      [39_500, '1'],
    ] as const) {
      vi.advanceTimersByTime(waited)
      expect(() => limits.request(agentOf('a'), kind)).toThrow(rateLimited(left))
    }
  })

  it('[AU5] are counted anew each minute; refused ones are not counted', () => {
    const limits = limited(2)
    for (let minute = 0; minute < 3; minute += 1) {
      limits.request(agentOf('a'), kind)
      limits.request(agentOf('a'), kind)
      for (let more = 0; more < 5; more += 1)
        expect(() => limits.request(agentOf('a'), kind)).toThrow(rateLimited('60'))
      vi.advanceTimersByTime(60_000)
    }
  })

  it('[AU5] of one tenant or name do not count against another, and a person is not limited', () => {
    const limits = limited(1)
    limits.request(agentOf('a'), kind)
    limits.request(agentOf('b'), kind)
    limits.request(agentOf('a', 'one'), kind)
    limits.request(agentOf('a', 'two'), kind)
    for (const again of [agentOf('a'), agentOf('b'), agentOf('a', 'one'), agentOf('a', 'two')])
      expect(() => limits.request(again, kind)).toThrow(rateLimited('60'))
    for (let count = 0; count < 3; count += 1) limits.request(PERSON, kind)
  })
})

describe('streams, waiting calls and bytes', () => {
  const TAKEN = [
    ['streams', (limits: Limits, caller: Caller) => limits.stream(caller)],
    ['waiting calls', (limits: Limits, caller: Caller) => limits.wait(caller)],
    ['bytes', (limits: Limits, caller: Caller) => limits.body(caller, 1)],
  ] as const

  describe.each(TAKEN)('%s', (_, take) => {
    const limitsOf = (total: number): Limits =>
      new Limits({ maxStreams: total, maxWaitingCalls: total, maxBytesInFlight: total })
    /** How many a caller gets before there are no more. */
    const most = (limits: Limits, caller: Caller): number => {
      for (let count = 0; ; count += 1) {
        try {
          if (take(limits, caller) === undefined) return count
        } catch {
          return count
        }
      }
    }

    it('[AU9] agents together get three quarters, and people the rest', () => {
      const limits = limitsOf(100)
      expect(most(limits, agentOf('a'))).toBe(75)
      expect(most(limits, agentOf('b'))).toBe(0)
      expect(most(limits, PERSON)).toBe(25)
    })

    it('[AU9] a person may take all of them', () => {
      const limits = limitsOf(100)
      expect(most(limits, PERSON)).toBe(100)
      expect(most(limits, agentOf('a'))).toBe(0)
    })

    it('[AU9] a named caller gets half, whatever its role', () => {
      const limits = limitsOf(100)
      expect(most(limits, { ...PERSON, name: 'ann' })).toBe(50)
      expect(most(limits, agentOf('a', 'bot'))).toBe(50)
      expect(most(limitsOf(100), agentOf('a', 'bot'))).toBe(50)
    })

    it('[AU9] where there is one only, everyone may take it', () => {
      for (const caller of [agentOf('a'), PERSON, agentOf('a', 'bot')]) expect(most(limitsOf(1), caller)).toBe(1)
    })

    it('[AU9] what is released, however often, is free once', () => {
      const limits = limitsOf(4)
      const bot = agentOf('a', 'bot')
      const release = take(limits, bot)
      take(limits, bot)
      expect(most(limits, bot)).toBe(0)
      for (let times = 0; times < 3; times += 1) release?.()
      expect(most(limits, bot)).toBe(1)
    })
  })

  it('[AU9] a refusal says whose limit it is, and when to come back', () => {
    const limits = new Limits({ maxStreams: 4, maxBytesInFlight: 4 })
    const bot = agentOf('a')
    for (let count = 0; count < 3; count += 1) limits.stream(bot)
    expect(() => limits.stream(bot)).toThrow(refused(429, 'too_many_streams', '5'))
    expect(() => limits.stream(bot)).toThrow(
      'Agents may take 3 of the 4 event streams of this server, and all are taken.',
    )
    limits.stream(PERSON)
    expect(() => limits.stream(PERSON)).toThrow(refused(503, 'too_many_streams', '5'))
    expect(() => limits.stream(PERSON)).toThrow('All 4 event streams of this server are taken.')
    expect(() => limits.body(agentOf('a', 'bot'), 3)).toThrow(refused(429, 'too_many_bytes', '1'))
    expect(() => limits.body(agentOf('a', 'bot'), 3)).toThrow('One caller may take 2 of the 4 bytes')
  })

  it('[HT37] each refusal is reported by limit and role', () => {
    const seen: [Limited, string][] = []
    const limits = new Limits(
      { maxStreams: 1, maxWaitingCalls: 1, maxBytesInFlight: 1, agentWritesPerMinute: 1, agentReadsPerMinute: 1 },
      (...refusal) => seen.push(refusal),
    )
    const bot = agentOf('a')
    limits.wait(bot)
    limits.wait(bot)
    for (const take of [
      () => limits.stream(bot),
      () => limits.body(bot, 1),
      () => limits.request(bot, 'writes'),
      () => limits.request(bot, 'reads'),
    ]) {
      take()
      expect(take).toThrow()
    }
    expect(() => limits.stream(PERSON)).toThrow()
    expect(seen).toEqual([
      ['waiting_calls', 'agent'],
      ['streams', 'agent'],
      ['bytes', 'agent'],
      ['writes', 'agent'],
      ['reads', 'agent'],
      ['streams', 'person'],
    ])
  })
})
