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

    it('agents together get three quarters, and people the rest', () => {
      const limits = limitsOf(100)
      expect(most(limits, agentOf('a'))).toBe(75)
      expect(most(limits, agentOf('b'))).toBe(0)
      expect(most(limits, PERSON)).toBe(25)
    })

    it('a person may take all of them', () => {
      const limits = limitsOf(100)
      expect(most(limits, PERSON)).toBe(100)
      expect(most(limits, agentOf('a'))).toBe(0)
    })

    it('a named caller gets half, whatever its role', () => {
      expect(most(limitsOf(100), { ...PERSON, name: 'ann' })).toBe(50)
      expect(most(limitsOf(100), agentOf('a', 'bot'))).toBe(50)
    })

    it('the last sixteenth is for people who have none, one for each', () => {
      const limits = limitsOf(100)
      const person = (name: string): Caller => ({ ...PERSON, name })
      expect([most(limits, person('ann')), most(limits, agentOf('a')), most(limits, person('bob'))]).toEqual([
        50, 44, 1,
      ])
      for (const name of ['b', 'c', 'd', 'e', 'f']) expect(most(limits, person(name))).toBe(1)
      expect(most(limits, person('g'))).toBe(0)
    })

    it('where there is one only, everyone may take it', () => {
      for (const caller of [agentOf('a'), PERSON, agentOf('a', 'bot')]) expect(most(limitsOf(1), caller)).toBe(1)
    })

    it('what is released, however often, is free once', () => {
      const limits = limitsOf(4)
      const bot = agentOf('a', 'bot')
      const release = take(limits, bot)
      take(limits, bot)
      expect(most(limits, bot)).toBe(0)
      for (let times = 0; times < 3; times += 1) release?.()
      expect(most(limits, bot)).toBe(1)
    })
  })

  it('a refusal says whose limit it is, and when to come back', () => {
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
    expect(() => limits.body(agentOf('a', 'bot'), 3)).toThrow(
      'This caller is sending and reading too much at once (limit 1 kB).',
    )
  })

  it('an answer counts like a body, unless it is small; that of a write is sent in any case', () => {
    const limits = new Limits({ maxBytesInFlight: 1_024 * 1_024 })
    const bot = agentOf('a')
    const release = limits.answer(bot, 500_000, false)
    for (const refusedNow of [() => limits.answer(bot, 500_000, false), () => limits.body(bot, 500_000)])
      expect(refusedNow).toThrow(refused(429, 'too_many_bytes', '1'))
    limits.answer(bot, 4_096, false)
    limits.answer(bot, 500_000, true)
    expect(() => limits.body(bot, 1)).toThrow('(limit 768 kB)')
    release()
    limits.body(bot, 250_000)
  })

  it('an answer of any size is sent to a person who has room for the start of it', () => {
    const limits = new Limits({ maxBytesInFlight: 1_024 * 1_024 })
    const release = limits.answer(PERSON, 5_000_000, false)
    expect(() => limits.answer(PERSON, 5_000, false)).toThrow(refused(503, 'too_many_bytes', '1'))
    release()
    limits.answer(PERSON, 5_000_000, false)
  })

  it('bytes without a credential have a sixteenth of their own', () => {
    const limits = new Limits({ maxBytesInFlight: 1_024 * 1_024 })
    limits.body(undefined, 65_536)
    expect(() => limits.body(undefined, 1)).toThrow(refused(503, 'too_many_bytes', '1'))
    limits.body(PERSON, 1_024 * 1_024)
  })

  it('[SS6] what streams leave unread counts; agents whose share is used up are told', () => {
    const limits = new Limits({ maxBytesInFlight: 1_000 })
    const [one, other, persons] = [limits.backlog(agentOf('a')), limits.backlog(agentOf('a')), limits.backlog(PERSON)]
    expect([one(500), one(700), other(100), persons(2_000)]).toEqual([true, true, false, true])
    persons(0)
    expect([one(100), other(600)]).toEqual([true, true])
  })

  it('each refusal is reported by limit and role', () => {
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
