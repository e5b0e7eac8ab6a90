import { expect, it } from 'vitest'
import { Group } from './stage.ts'
import { Hints } from './hints.ts'
import { Lru } from './lru.ts'
import { eventOf } from './rows.ts'

it('the cache drops the least recently used value', () => {
  const cache = new Lru<number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3])
})

it('[ST8] a slow listener gets the newest hint of each conversation and kind, not a queue', async () => {
  const hints = new Hints()
  const stop = new AbortController()
  const listener = hints.subscribe(stop.signal)[Symbol.asyncIterator]()
  for (let seq = 1; seq <= 1_000; seq += 1) {
    hints.publish({ tenant: 't', conversation: seq % 2 ? 'odd' : 'even', kind: 'log', seq })
    hints.publish({ tenant: 't', conversation: 'odd', kind: 'text' })
  }
  const heard = [await listener.next(), await listener.next(), await listener.next()].map(({ value }) => value)
  expect(heard).toEqual([
    { tenant: 't', conversation: 'odd', kind: 'log', seq: 999 },
    { tenant: 't', conversation: 'odd', kind: 'text' },
    { tenant: 't', conversation: 'even', kind: 'log', seq: 1_000 },
  ])
  stop.abort()
  expect((await listener.next()).done).toBe(true)
})

it('[ST8] listening starts with the first listener and ends with the last', () => {
  const calls: string[] = []
  const hints = new Hints(
    () => calls.push('first'),
    () => calls.push('last'),
  )
  const [one, two] = [new AbortController(), new AbortController()]
  hints.subscribe(one.signal)
  hints.subscribe(two.signal)
  one.abort()
  expect(calls).toEqual(['first'])
  two.abort()
  expect(calls).toEqual(['first', 'last'])
})

it('[FA2] a caller in a tight loop does not starve the event loop', async () => {
  const group = new Group<() => void>(async calls => {
    const until = performance.now() + 1
    while (performance.now() < until);
    for (const answer of calls) answer()
  })
  let turns = 0
  let done = false
  const turn = (): void => {
    turns += 1
    if (!done) setImmediate(turn)
  }
  setImmediate(turn)
  for (let call = 0; call < 30; call += 1) await new Promise<void>(resolve => group.add(resolve))
  done = true
  expect(turns).toBeGreaterThan(5)
})

it('[EV3] an event of another version is refused', () => {
  const row = { seq: 1, v: 3, type: 'pin_set', turn_id: null, timestamp: '2026-11-02T09:00:00.000Z', data: '{}' }
  expect(() => eventOf('c', row)).toThrow('An event was written by a newer Runsheet. Update Runsheet.')
})
