import { setImmediate as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkIn, type Need } from '../../src/core/model/needs.ts'
import { finish, held, note, openTurn, run, startTurn, type LiveStore, type Subject } from './contract.ts'
import type { Lease, Ref, Store } from '../../src/store/store.ts'

/** A store under test, in which a turn can be made to need something that its log does not call for. */
export interface LeaseSubject<S extends Store = LiveStore> extends Subject<S> {
  readonly need: (at: Ref & { readonly turn: string }, need: Need | null) => Promise<void>
}

const [W, ELSEWHERE] = [checkIn('m1:/work'), checkIn('m1:/elsewhere')]
const abilities = [W]
const a = { tenant: 'acme', conversation: 'a', turn: 't1' }
const b = { tenant: 'acme', conversation: 'b', turn: 't1' }

/** The rules of leases for checks: one at a time in each workspace. */
export function leaseContract(name: string, open: () => Promise<LeaseSubject>): void {
  describe(`${name}: leases for checks`, () => {
    let subject: LeaseSubject
    let store: Store
    beforeEach(async () => {
      subject = await open()
      store = subject.store
    })
    afterEach(async () => {
      await store.close()
      await subject.dispose()
    })

    /** A running turn that needs this. */
    async function needing(at: typeof a, need: Need): Promise<void> {
      await store.commit(at, run(startTurn(at.turn)))
      await subject.need(at, need)
    }

    /** A second handle on the same data, if there can be one. */
    async function another(): Promise<Store> {
      const elsewhere = await subject.another?.()
      return elsewhere ?? store
    }

    it('turns are claimed whatever their status, one at a time in each workspace', async () => {
      const c = { tenant: 'globex', conversation: 'c', turn: 't1' }
      await store.commit(a, run(openTurn('t1')))
      await store.commit(b, run(startTurn('t1'), finish('t1')))
      for (const at of [a, b]) await subject.need(at, W)
      await needing(c, ELSEWHERE)
      const first = held(await store.claim('r1', 1_000, { abilities }))
      for (const wanted of [undefined, a, b]) {
        expect(await store.claim('r2', 1_000, { abilities, wanted })).toBeUndefined()
      }
      expect(await store.claim('r2', 1_000, { abilities: [W, ELSEWHERE] })).toMatchObject(c)
      await store.release(first)
      expect(await store.claim('r2', 1_000, { abilities, wanted: b })).toMatchObject(b)
      expect(await store.claim('r1', 1_000, { abilities })).toBeUndefined()
    })

    it('of claims that are made at once in two processes, one succeeds', async () => {
      const elsewhere = await another()
      for (const at of [a, b]) await needing(at, W)
      for (let round = 1; round <= 5; round += 1) {
        const claims = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 ? store : elsewhere).claim(`r${index}`, 60_000, {
              abilities,
              wanted: [undefined, undefined, a, b][index % 4],
            }),
          ),
        )
        const leases = claims.filter(lease => lease !== undefined)
        expect(leases).toHaveLength(1)
        await Promise.all(leases.map(lease => elsewhere.release(lease)))
      }
      if (elsewhere !== store) await elsewhere.close()
    })

    it('never are two at work in a workspace, and each gets its turn', async () => {
      const elsewhere = await another()
      const turns = ['a', 'b', 'c', 'd'].map(conversation => ({ ...a, conversation }))
      for (const at of turns) await needing(at, W)
      let atWork = 0
      const worker = async (_: unknown, index: number): Promise<void> => {
        const mine = index % 2 ? store : elsewhere
        for (;;) {
          const lease = await mine.claim(`r${index}`, 60_000, { abilities })
          if (!lease) {
            if ((await Promise.all(turns.map(at => store.load(at)))).every(isOver)) return
            // A store in memory answers without letting go of the event loop.
            await pause()
            continue
          }
          atWork += 1
          expect(atWork).toBe(1)
          // The turn no longer needs it from here on, and the workspace is still ours.
          await mine.commit({ ...lease, lease }, run(finish(lease.turn)))
          expect(await mine.renew(lease, 60_000)).toBe(true)
          atWork -= 1
          await mine.release(lease)
        }
      }
      await Promise.all(Array.from({ length: 4 }, worker))
      if (elsewhere !== store) await elsewhere.close()
    })

    it('one that is over is taken over by a claim of any turn there, which fences it off', async () => {
      const elsewhere = await another()
      for (const at of [a, b]) await needing(at, W)
      const first = held(await elsewhere.claim('r1', 1_000, { abilities, wanted: a }))
      expect(await store.claim('r2', 1_000, { abilities, wanted: b })).toBeUndefined()
      subject.advance(1_001)
      // Late, but not overtaken: still the holder.
      await elsewhere.commit({ ...a, lease: first }, () => ({ events: [note('late')], value: null }))
      const second = held(await store.claim('r2', 1_000, { abilities, wanted: b }))
      expect(await elsewhere.renew(first, 1_000)).toBe(false)
      const stale = elsewhere.commit({ ...a, lease: first }, () => ({ events: [note('stale')], value: null }))
      await expect(stale).rejects.toMatchObject({ name: 'StoreError', code: 'fenced' })
      await elsewhere.release(first)
      expect(await elsewhere.claim('r1', 1_000, { abilities })).toBeUndefined()
      await store.release(second)
      expect(held(await elsewhere.claim('r1', 1_000, { abilities, wanted: a })).attempt).toBeGreaterThan(first.attempt)
      if (elsewhere !== store) await elsewhere.close()
    })

    it('one that is renewed is not over', async () => {
      for (const at of [a, b]) await needing(at, W)
      const first = held(await store.claim('r1', 1_000, { abilities, wanted: a }))
      for (let count = 0; count < 3; count += 1) {
        subject.advance(900)
        expect(await store.claim('r2', 1_000, { abilities })).toBeUndefined()
        expect(await store.renew(first, 1_000)).toBe(true)
      }
    })

    it('a lease lasts until it ends, whatever the turn needs meanwhile', async () => {
      for (const at of [a, b]) await needing(at, W)
      const first = held(await store.claim('r1', 1_000, { abilities, wanted: a }))
      await subject.need(a, 'drive')
      expect(await store.claim('r2', 1_000, { abilities: [W, 'drive'] })).toBeUndefined()
      expect(await store.renew(first, 1_000)).toBe(true)
      await store.release(first)
      expect(await store.claim('r2', 1_000, { abilities: ['drive'] })).toMatchObject(a)
      // A lease to drive does not count as one for checks, even if the turn now waits for those.
      await subject.need(a, W)
      expect(await store.claim('r3', 1_000, { abilities })).toMatchObject(b)
    })

    it('a need is served while a lease for it is held, by whichever process', async () => {
      const elsewhere = await another()
      const served = async (need: Need): Promise<boolean[]> => [await store.served(need), await elsewhere.served(need)]
      for (const at of [a, b]) await needing(at, W)
      expect(await served(W)).toEqual([false, false])
      const first = held(await elsewhere.claim('r1', 1_000, { abilities, wanted: a }))
      expect([await served(W), await served(ELSEWHERE), await served('drive')]).toEqual([
        [true, true],
        [false, false],
        [false, false],
      ])
      await elsewhere.release(first)
      expect(await served(W)).toEqual([false, false])
      const second: Lease = held(await elsewhere.claim('r1', 1_000, { abilities, wanted: b }))
      expect(await served(W)).toEqual([true, true])
      subject.advance(900)
      await elsewhere.renew(second, 1_000)
      expect(await served(W)).toEqual([true, true])
      subject.advance(1_001)
      expect(await served(W)).toEqual([false, false])
      if (elsewhere !== store) await elsewhere.close()
    })
  })
}

const isOver = ({ running_turn }: { readonly running_turn: string | null }): boolean => running_turn === null
