import { afterEach, expect, it, vi } from 'vitest'
import { CatchUp } from './search-catch-up.ts'

afterEach(() => void vi.useRealTimers())

it('[SE7] a search waits a second for a slice that hangs, also one that hung before', async () => {
  vi.useFakeTimers()
  const hanging = Promise.withResolvers<'done'>()
  const catchUp = new CatchUp(() => hanging.promise)
  for (let searches = 0; searches < 2; searches += 1) {
    const finished = catchUp.finish()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await finished).toBe(false)
  }
  hanging.resolve('done')
  expect(await catchUp.finish()).toBe(true)
  await catchUp.stop()
})
