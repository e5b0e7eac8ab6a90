import { expect, it } from 'vitest'
import { LeaseWatch } from './lease-watch.ts'

const lease = { tenant: 'local', conversation: 'c1', turn: 't1', attempt: 1, until: '2026-11-02T12:00:00.000Z' }

/** A watch whose time the test controls. */
function watched() {
  const time = { now: 0 }
  return { time, watch: new LeaseWatch(() => time.now) }
}

it('a lease is over once it was seen unchanged for its length, whatever its date', () => {
  const { time, watch } = watched()
  expect(watch.isOver(lease, 6_000)).toBe(false)
  time.now = 5_999
  expect(watch.isOver(lease, 6_000)).toBe(false)
  time.now = 6_000
  expect(watch.isOver(lease, 6_000)).toBe(true)
})

it.each([{ until: '2026-11-02T11:00:00.000Z' }, { attempt: 2 }])('a change (%o) begins it anew', change => {
  const { time, watch } = watched()
  watch.saw(lease)
  time.now = 6_000
  expect(watch.isOver({ ...lease, ...change }, 6_000)).toBe(false)
  time.now = 12_000
  expect(watch.isOver({ ...lease, ...change }, 6_000)).toBe(true)
})
