import { expect } from 'vitest'
import { cancel, propose, run, startTurn } from '../store/contract.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { StoredEvent } from '../../src/domain/event.ts'
import type { Store } from '../../src/store/store.ts'

/** A conversation with one turn, as it was stored before rows said what a turn needs. */
export interface FormerTurn {
  readonly conversation: string
  readonly parked: boolean
  /** A runner that is gone holds a lease, its third. */
  readonly leased: boolean
  readonly events: readonly StoredEvent[]
}

const refTo = (conversation: string) => ({ tenant: 'acme', conversation })
const abilities = ['drive'] as const

/** Running turns: a free one, a leased one, and one that waits for a review. */
export async function formerTurns(): Promise<FormerTurn[]> {
  const memory = openMemoryStore()
  const turns = [
    { conversation: 'free', parked: false, leased: false },
    { conversation: 'leased', parked: false, leased: true },
    { conversation: 'parked', parked: true, leased: false },
  ]
  return Promise.all(
    turns.map(async turn => {
      const commands = turn.parked ? [propose('t1', 'rev-1', 'a')] : []
      const { events } = await memory.commit(refTo(turn.conversation), run(startTurn('t1'), ...commands))
      return { ...turn, events }
    }),
  )
}

/** Checks that they are claimed as they would have been then. */
export async function expectClaimedAsBefore(store: Store, advance: (ms: number) => void): Promise<void> {
  const claim = () => store.claim('r', 6_000, { abilities })
  expect(await claim()).toMatchObject({ conversation: 'free', attempt: 1 })
  expect(await claim()).toBeUndefined()
  expect(await store.served('drive')).toBe(true)
  expect(await store.renew({ ...refTo('leased'), turn: 't1', attempt: 3 }, 6_000)).toBe(true)
  expect(await claim()).toBeUndefined()
  advance(6_001)
  const later = [await claim(), await claim(), await claim()]
  expect(new Set(later.map(lease => lease?.conversation))).toEqual(new Set(['free', 'leased', undefined]))
  expect(later.find(lease => lease?.conversation === 'leased')).toMatchObject({ attempt: 4 })
  await store.commit(refTo('parked'), run(cancel('rev-1')))
  expect(await claim()).toMatchObject({ conversation: 'parked', attempt: 1 })
}
