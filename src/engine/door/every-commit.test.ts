import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { note } from '../../../test/store/contract.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { Ref, Store } from '../../store/store.ts'
import { everyCommit } from './every-commit.ts'

let store: Store
let skew: number
let reported: string[]

beforeEach(() => {
  skew = 0
  store = openMemoryStore({ skewMs: () => skew })
  reported = []
})

const at = (conversation: string): Ref => ({ tenant: 'local', conversation })

function observe(): void {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const report = ({ conversation }: Ref, events: readonly { seq: number }[]): void => {
    reported.push(...events.map(({ seq }) => `${conversation} ${seq}`))
  }
  void everyCommit(store, report, () => {}, ending.signal)
}

const write = (conversation: string, count = 1): Promise<unknown> =>
  store.commit(at(conversation), () => ({ events: Array.from({ length: count }, () => note('x')), value: null }))

/** Resolves once exactly these were reported. */
const told = (...expected: readonly string[]): Promise<void> =>
  vi.waitFor(() => expect(reported).toEqual(expected), { timeout: 20_000, interval: 20 })

describe('every commit', () => {
  it('is reported once its hint came, in the order of the log', async () => {
    observe()
    // What is committed in the very millisecond of the start may count as before it.
    skew = 10
    await write('c1', 2)
    await told('c1 1', 'c1 2')
    await write('c1', 601)
    await write('c1')
    await told(...Array.from({ length: 604 }, (_, index) => `c1 ${index + 1}`))
  })

  it('from before is not reported, however long the log', async () => {
    await write('c1', 100)
    skew = 10
    observe()
    skew = 20
    await write('c1', 40)
    await write('c1')
    await told(...Array.from({ length: 41 }, (_, index) => `c1 ${index + 101}`))
  })

  it('is reported after the log could not be read', async () => {
    observe()
    skew = 10
    await write('c1')
    await told('c1 1')
    const unreadable = vi.spyOn(store, 'eventsAfter').mockRejectedValue(new Error('unreadable'))
    await write('c1')
    await vi.waitFor(() => expect(reported).toEqual(['c1 1']))
    unreadable.mockRestore()
    await vi.waitFor(
      async () => {
        await write('c1')
        expect(reported.slice(0, 3)).toEqual(['c1 1', 'c1 2', 'c1 3'])
      },
      { timeout: 20_000, interval: 100 },
    )
  })
})
