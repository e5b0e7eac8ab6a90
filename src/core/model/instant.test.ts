import { describe, expect, it } from 'vitest'
import { instantOf, laterThan, plusMs } from './instant.ts'

describe('moments', () => {
  it('[EV5] now is the clock, or just after the last event where the clock is behind it', () => {
    const last = '2026-11-02T09:59:59.999Z'
    expect(laterThan(null, last)).toBe(last)
    expect(laterThan(last, '2026-11-02T10:00:00.001Z')).toBe('2026-11-02T10:00:00.001Z')
    expect(laterThan(last, last)).toBe('2026-11-02T10:00:00.000Z')
    expect(laterThan(last, '2026-11-02T09:00:00.000Z')).toBe('2026-11-02T10:00:00.000Z')
  })

  it('are ISO 8601 in UTC with milliseconds, so that text order is time order', () => {
    expect(instantOf(0)).toBe('1970-01-01T00:00:00.000Z')
    expect(plusMs('2026-12-31T23:59:59.999Z', 1)).toBe('2027-01-01T00:00:00.000Z')
  })
})
