import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { note } from '../../../test/store/contract.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { Ref, Store } from '../../store/store.ts'
import { EveryCommit } from './every-commit.ts'

let store: Store
let skew: number
let reported: string[]

beforeEach(() => {
  skew = 0
  store = openMemoryStore({ skewMs: () => skew })
  reported = []
})

const at = (conversation: string): Ref => ({ tenant: 'local', conversation })

function observed(): EveryCommit {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const report = ({ conversation }: Ref, events: readonly { seq: number }[]): void => {
    reported.push(...events.map(({ seq }) => `${conversation} ${seq}`))
  }
  return new EveryCommit(store, report, () => {}, ending.signal)
}

/** What another process does: only the store hears of it. */
const write = async (conversation: string, count = 1): Promise<Parameters<EveryCommit['committed']>> => {
  const events = Array.from({ length: count }, () => note('x'))
  const committed = await store.commit(at(conversation), () => ({ events, value: null }))
  return [at(conversation), committed.events]
}

/** Resolves once exactly these were reported. */
const told = (...expected: readonly string[]): Promise<void> =>
  vi.waitFor(() => expect(reported).toEqual(expected), { timeout: 20_000, interval: 20 })

describe('every commit', () => {
  it('of our own is reported at once', async () => {
    const every = observed()
    every.committed(...(await write('c1', 2)))
    expect(reported).toEqual(['c1 1', 'c1 2'])
    every.committed(...(await write('c1')))
    expect(reported).toEqual(['c1 1', 'c1 2', 'c1 3'])
  })

  it('of another process is reported once its hint came, in the order of the log', async () => {
    const every = observed()
    // What is committed in the very millisecond of the start may count as before it.
    skew = 10
    await write('c1', 2)
    await told('c1 1', 'c1 2')
    every.committed(...(await write('c1')))
    await write('c1', 600)
    // Behind one of another process: it waits for that one.
    every.committed(...(await write('c1')))
    await told(...Array.from({ length: 604 }, (_, index) => `c1 ${index + 1}`))
  })

  it('from before is not reported, however long the log', async () => {
    await write('c1', 100)
    skew = 10
    const every = observed()
    skew = 20
    await write('c1', 40)
    every.committed(...(await write('c1')))
    await told(...Array.from({ length: 41 }, (_, index) => `c1 ${index + 101}`))
  })

  it('is not reported again after its log was forgotten', async () => {
    const every = observed()
    skew = 10
    every.committed(...(await write('c0')))
    for (let index = 1; index <= 10_000; index += 1) every.committed(at(`c${index}`), [stamped(index)])
    reported.length = 0
    skew = 20
    await write('c0')
    await told('c0 2')
  })
})

/** The first event of another log. */
const stamped = (index: number): Parameters<EveryCommit['committed']>[1][number] => ({
  ...note('x'),
  type: 'message_added',
  data: { message_id: 'm', role: 'assistant', text: 'x' },
  timestamp: new Date(Date.now()).toISOString(),
  seq: 1,
  session_id: `c${index}`,
})
