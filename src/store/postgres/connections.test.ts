import { expect, it, vi } from 'vitest'
import { Connections, Lane } from './connections.ts'
import { limitsOf } from './limits.ts'

/** A port without a listener. */
const NOWHERE = 'postgres://127.0.0.1:1/none'

it('a call whose time is over sets no timer that Node would warn of', async () => {
  const connections = new Connections(NOWHERE, 1, limitsOf(1_000))
  const lane = new Lane(new Lane(connections, 1, 1_000), 1, 1_000)
  const set = vi.spyOn(globalThis, 'setTimeout')
  const calls = [lane.use(async () => {}, { ms: -1 }), lane.use(async () => {}, { ms: -1 })]
  for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected')
  expect(set.mock.calls.map(([, ms = 0]) => ms).filter(ms => ms < 0)).toEqual([])
  set.mockRestore()
  await connections.close()
})
