import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Need } from '../../core/model/needs.ts'
import { ServiceWatch } from './turns.ts'

const HERE = { tenant: 'local', conversation: 'c1' }

describe('who waits for a process that serves a need', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('shares one look with all who wait for the same, and there is none while nobody waits', async () => {
    const served = vi.fn<(need: Need) => Promise<boolean>>(async () => true)
    const watch = new ServiceWatch(served)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(vi.getTimerCount()).toBe(0)
    const waiting = Array.from({ length: 100 }, () => watch.watch(HERE))
    for (const each of waiting) each.needs('check@m:/a')
    watch.watch(HERE).needs(null)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(4_000)
    expect(served.mock.calls).toEqual([['check@m:/a'], ['check@m:/a']])
  })

  it('is told once nobody served it for over 8 s', async () => {
    let isServed = false
    const service = new ServiceWatch(async () => isServed).watch(HERE)
    service.needs('judge')
    await vi.advanceTimersByTimeAsync(8_000)
    expect(service.gone.aborted).toBe(false)
    isServed = true
    await vi.advanceTimersByTimeAsync(2_000)
    isServed = false
    await vi.advanceTimersByTimeAsync(8_000)
    expect(service.gone.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(service.gone.aborted).toBe(true)
    service.end()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('[CF8] the listeners are told what is not served, at once if its folder is gone', async () => {
    const watch = new ServiceWatch(
      async () => false,
      need => need === 'check@m:/gone',
    )
    const told: unknown[] = []
    const remove = watch.onUnserved((ref, need) => told.push([ref.conversation, need]))
    watch.watch(HERE).needs('judge')
    watch.watch({ ...HERE, conversation: 'c2' }).needs('check@m:/gone')
    expect(told).toEqual([['c2', 'check@m:/gone']])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(told.slice(1)).toEqual([
      ['c1', 'judge'],
      ['c2', 'check@m:/gone'],
    ])
    remove()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(told).toHaveLength(3)
  })

  it('waits on while storage fails, and while a person has to act', async () => {
    const watch = new ServiceWatch(() => Promise.reject(new Error('io')))
    const [failing, person] = [watch.watch(HERE), watch.watch(HERE)]
    failing.needs('judge')
    person.needs(null)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([failing.gone.aborted, person.gone.aborted]).toEqual([false, false])
  })
})
