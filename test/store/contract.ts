import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Command, CommandOf } from '../../src/core/model/command.ts'
import { emptyConversation, fold, listed, stamped } from '../../src/core/model/conversation.ts'
import { decide } from '../../src/core/decide/index.ts'
import { Refusal } from '../../src/core/model/refusal.ts'
import type { NewEvent } from '../../src/core/model/event.ts'
import type { SessionList } from '../../src/core/views/session-list.ts'
import { freeze } from '../../src/core/model/snapshot.ts'
import type { Template } from '../../src/core/model/template.ts'
import {
  commitOf,
  commitsAfter,
  type Capabilities,
  type Commit,
  type ConversationSummary,
  type Decide,
  type FullStore,
  type Hint,
  type Lease,
  type Ref,
  type Store,
} from '../../src/store/store.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { verify } from '../../src/store/verify.ts'

/** What every store of ours has. */
export type LiveStore = Store & Pick<Capabilities, 'live'>

/** A store under test, and what the suite can do to it from outside. */
export interface Subject<S extends Store = LiveStore> {
  readonly store: S
  /** A second handle on the same data, as in another process; undefined for memory. */
  readonly another?: () => Promise<S>
  /** Opens the same data again after `store` was closed; undefined for memory. */
  readonly reopen?: () => Promise<S>
  /** Moves the store's clock ahead. */
  readonly advance: (ms: number) => void
  readonly dispose: () => Promise<void>
}

const ref: Ref = { tenant: 'acme', conversation: 'chat-1' }
const other: Ref = { tenant: 'acme', conversation: 'chat-2' }

/** The rules that every store keeps: `SPEC.md`, section Stores. */
export function storeContract(name: string, open: () => Promise<Subject>): void {
  describe(`${name}: the store contract`, () => {
    let subject: Subject
    let store: LiveStore
    beforeEach(async () => {
      subject = await open()
      store = subject.store
    })
    afterEach(() => ended(subject, store))

    describe('commit', () => {
      it('[ST1] writes all events of a decision with consecutive seqs and returns the state after them', async () => {
        const first = await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
        expect(first.events.map(({ seq, type }) => [seq, type])).toEqual([
          [1, 'policy_set'],
          [2, 'turn_opened'],
          [3, 'task_created'],
          [4, 'task_created'],
        ])
        const second = await store.commit(ref, run(add('t1', 'c')))
        expect(second.events.map(({ seq }) => seq)).toEqual([5])
        expect(second.conversation.seq).toBe(5)
        expect(second.replayed).toBe(false)
        expect(await store.eventsAfter(ref, 0, 100)).toEqual([...first.events, ...second.events])
      })

      it('[ST1] returns the value of the decision, and writes nothing without events', async () => {
        const committed = await store.commit(ref, () => ({ events: [], value: { seen: true } }))
        expect(committed).toMatchObject({ value: { seen: true }, events: [], conversation: { seq: 0 } })
        expect(await store.load(ref)).toMatchObject({ seq: 0 })
      })

      it('[ST1][ST4] a discarded decision writes neither events nor its key, and still returns its value', async () => {
        const once = { key: 'k', bodyHash: 'h' }
        const calls = [
          store.commit({ ...ref, once }, () => ({ value: 'not yet', discard: true })),
          store.commit({ ...ref, once }, () => ({ value: 'done', events: [note('a')] })),
        ]
        expect(await Promise.all(calls)).toMatchObject([
          { value: 'not yet', events: [], replayed: false, conversation: { seq: 0 } },
          { value: 'done', events: [{ seq: 1 }], replayed: false },
        ])
        expect(await store.commit({ ...ref, once }, () => ({ value: 0, discard: true }))).toMatchObject({
          value: 'done',
          replayed: true,
        })
        const unkeepable = await store.commit({ ...ref, once: { key: 'k2', bodyHash: 'h' } }, () => ({
          value: 1n,
          discard: true,
        }))
        expect(unkeepable.value).toBe(1n)
        expect((await store.load(ref)).seq).toBe(1)
      })

      it('a throw writes nothing and rejects with the same error', async () => {
        await store.commit(ref, run(openTurn('t1')))
        const boom = new Error('boom')
        const failing = store.commit(ref, () => {
          throw boom
        })
        await expect(failing).rejects.toBe(boom)
        expect(await store.load(ref)).toMatchObject({ seq: 2 })
      })

      it('[ST1] of concurrent calls, those that throw fail alone and the others see each other', async () => {
        await store.commit(ref, run(openTurn('t1')))
        const calls = Array.from({ length: 60 }, (_, index) =>
          store.commit(index % 2 ? ref : other, state => {
            if (index % 3 === 0) throw new Refusal('no_turn', {})
            return { events: [note(`${index} after ${state.seq}`)], value: state.seq }
          }),
        )
        const settled = await Promise.allSettled(calls)
        expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(20)
        for (const conversation of [ref, other]) {
          const seqs = (await store.eventsAfter(conversation, 0, 1_000)).map(({ seq }) => seq)
          expect(seqs).toEqual(seqs.map((_, index) => index + 1))
        }
        const seen = settled.flatMap((call, index) =>
          index % 2 && call.status === 'fulfilled' ? [call.value.value] : [],
        )
        expect(seen).toEqual(seen.map((_, index) => index + 2))
        expect((await store.load(ref)).seq + (await store.load(other)).seq).toBe(2 + 40)
      })

      it('[ST4] a used key replays its answer, writes nothing, and refuses a different body', async () => {
        const once = { key: 'call-1', bodyHash: 'h1' }
        const first = await store.commit({ ...ref, once }, () => ({ events: [note('a')], value: { n: 1 } }))
        const again = await store.commit({ ...ref, once }, () => ({ events: [note('b')], value: { n: 2 } }))
        expect(again).toMatchObject({ value: { n: 1 }, events: [], replayed: true, conversation: { seq: 1 } })
        expect(first.replayed).toBe(false)
        const conflict = store.commit({ ...ref, once: { key: 'call-1', bodyHash: 'h2' } }, () => ({
          events: [],
          value: 0,
        }))
        await expect(conflict).rejects.toMatchObject({ name: 'StoreError', code: 'key_conflict' })
        const elsewhere = await store.commit({ ...other, once }, () => ({ events: [note('c')], value: 3 }))
        expect(elsewhere.replayed).toBe(false)
        expect(await store.eventsAfter(ref, 0, 10)).toHaveLength(1)
      })

      it('[ST4] a key is kept without events, not after a throw, and holds among concurrent calls', async () => {
        const once = { key: 'k', bodyHash: 'h' }
        const failing = store.commit({ ...ref, once }, () => {
          throw new Refusal('no_turn', {})
        })
        await expect(failing).rejects.toMatchObject({ code: 'no_turn' })
        let runs = 0
        const calls = Array.from({ length: 10 }, () =>
          store.commit({ ...ref, once }, () => {
            runs += 1
            return { events: [], value: runs }
          }),
        )
        const values = (await Promise.all(calls)).map(({ value }) => value)
        expect(new Set(values).size).toBe(1)
        expect(await store.commit({ ...ref, once }, () => ({ events: [note('x')], value: -1 }))).toMatchObject({
          replayed: true,
          value: values[0],
        })
      })

      it('an id of a task or review in another conversation is refused; concurrent calls are not affected', async () => {
        const task = { id: testId(), title: 'mine' }
        const make = (turn: string): Command => ({ type: 'edit_tasks', by: 'model', turn_id: turn, create: [task] })
        await store.commit(ref, run(openTurn('t1'), make('t1')))
        await store.commit(ref, run(openTurn('t2')))
        const calls = [
          store.commit(other, run(openTurn('t1'), make('t1'))),
          store.commit({ ...ref, conversation: 'chat-3' }, run(openTurn('t1'), add('t1', 'fine'))),
        ]
        const outcomes = await Promise.allSettled(calls)
        expect(outcomes).toMatchObject([{ reason: { code: 'id_taken' } }, { status: 'fulfilled' }])
        expect(listed(await store.load(ref))).toMatchObject([{ title: 'mine' }])
        expect((await store.load(other)).seq).toBe(0)
        await store.commit(
          ref,
          run({ type: 'set_policy', by: 'person', policy: { review: true } }, propose('t2', 'rev-1', 'a')),
        )
        const again = store.commit(other, run(startTurn('t1'), propose('t1', 'rev-1', 'b')))
        await expect(again).rejects.toMatchObject({ code: 'id_taken' })
        expect(await store.queries.review('acme', 'rev-1')).toMatchObject(ref)
      })

      it('an answer that is not JSON writes nothing under a key', async () => {
        const once = { key: 'k', bodyHash: 'h' }
        for (const value of [1n, () => {}]) {
          const failing = store.commit({ ...ref, once }, () => ({ events: [note('a')], value }))
          await expect(failing).rejects.toThrow(TypeError)
        }
        expect((await store.load(ref)).seq).toBe(0)
      })

      it('[EV5] time is strictly increasing: each commit has its own timestamp', async () => {
        subject.advance(3_600_000)
        const ahead = await store.commit(ref, (_, now) => ({ events: [note('a')], value: now }))
        subject.advance(-3_600_000)
        const behind = await store.commit(ref, (_, now) => ({ events: [note('b')], value: now }))
        expect(behind.value > ahead.value).toBe(true)
        expect(behind.events[0]?.timestamp).toBe(behind.value)
        const burst = Array.from({ length: 20 }, () =>
          store.commit(ref, (_, now) => ({ events: [note('c'), note('d')], value: now })),
        )
        const moments = (await Promise.all(burst)).map(({ value }) => value)
        expect(moments).toEqual([...new Set(moments)].sort())
      })

      it('keeps any text that JSON can hold', async () => {
        const text = 'NUL \u0000, half a pair \ud800, emoji 🧾, quote \' " \\ , \u2028'
        await store.commit(ref, () => ({ events: [note(text)], value: null }))
        expect((await store.eventsAfter(ref, 0, 1))[0]?.data).toMatchObject({ text })
      })
    })

    describe('reading', () => {
      it('load is the fold of the log; an unknown conversation is empty', async () => {
        expect(freeze(await store.load(ref))).toBe(freeze(emptyConversation(ref.conversation)))
        await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c')))
        await store.commit(ref, run(settle('t1', 1)))
        const folded = fold(emptyConversation(ref.conversation), await store.eventsAfter(ref, 0, 1_000))
        expect(freeze(await store.load(ref))).toBe(freeze(folded))
      })

      it('a cold load of a long log, past several snapshots, is the same fold', async () => {
        await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c')))
        for (let round = 0; round < 10; round += 1) {
          await Promise.all(
            Array.from({ length: 45 }, (_, index) =>
              store.commit(ref, run(rename('t1', 1, `title ${round} ${index}`))),
            ),
          )
        }
        const folded = fold(emptyConversation(ref.conversation), await store.eventsAfter(ref, 0, 10_000))
        expect(folded.seq).toBe(455)
        expect(freeze(await store.load(ref))).toBe(freeze(folded))
        const cold = await (subject.another?.() ?? store)
        expect(freeze(await cold.load(ref))).toBe(freeze(folded))
        await cold.commit(ref, run(rename('t1', 2, 'by the other')))
        expect((await store.load(ref)).seq).toBe(456)
        await cold.close()
      })

      it('eventsAfter pages through the log in order', async () => {
        await store.commit(ref, () => ({ events: Array.from({ length: 7 }, (_, i) => note(`${i}`)), value: null }))
        const page = async (after: number): Promise<number[]> =>
          (await store.eventsAfter(ref, after, 3)).map(({ seq }) => seq)
        expect([await page(0), await page(3), await page(6), await page(7), await page(99)]).toEqual([
          [1, 2, 3],
          [4, 5, 6],
          [7],
          [],
          [],
        ])
      })

      it('eventsAfter ends a page early where events are large, but never before the first', async () => {
        const texts = ['a', 'b'.repeat(5_000), 'c', 'd'.repeat(500), 'e'.repeat(500)]
        await store.commit(ref, () => ({ events: texts.map(note), value: null }))
        const page = async (after: number): Promise<number[]> =>
          (await store.eventsAfter(ref, after, 10, 1_000)).map(({ seq }) => seq)
        expect([await page(0), await page(1), await page(2), await page(4), await page(5)]).toEqual([
          [1],
          [2],
          [3, 4],
          [5],
          [],
        ])
      })

      it('[ST7] tenants do not see each other', async () => {
        const foreign: Ref = { tenant: 'other', conversation: ref.conversation }
        await store.commit(ref, run(openTurn('t1'), add('t1', 'secret')))
        expect(await store.load(foreign)).toMatchObject({ seq: 0 })
        expect(await store.eventsAfter(foreign, 0, 10)).toEqual([])
        expect((await store.queries.conversations('other', { limit: 10 })).items).toEqual([])
      })
    })

    describe('changes', () => {
      it('[ST8] a hint names the conversation once the commit can be read', async () => {
        const stop = new AbortController()
        const hints = store.changes(stop.signal)[Symbol.asyncIterator]()
        await store.commit(ref, () => ({ events: [note('a')], value: null }))
        const hint = await nextHint(hints, ref)
        expect(hint).toEqual({ ...ref, kind: 'log', seq: 1 })
        expect(await store.eventsAfter(ref, 0, 10)).toHaveLength(1)
        stop.abort()
        expect(await hints.next()).toMatchObject({ done: true })
      })

      it('[ST8] hints come for commits of other processes, too', async () => {
        const elsewhere = await subject.another?.()
        if (!elsewhere) return
        const stop = new AbortController()
        const hints = store.changes(stop.signal)[Symbol.asyncIterator]()
        await elsewhere.commit(other, () => ({ events: [note('a')], value: null }))
        expect(await nextHint(hints, other)).toEqual({ ...other, kind: 'log', seq: 1 })
        expect(await store.eventsAfter(other, 0, 10)).toHaveLength(1)
        stop.abort()
        await elsewhere.close()
      })
    })

    describe('leases', () => {
      it('[ST9] hands a running turn to one of many runners', async () => {
        expect(await store.claim('r0', 1_000, { abilities: ['drive'] })).toBeUndefined()
        await store.commit(ref, run(startTurn('t1')))
        await store.commit(other, run(openTurn('outside')))
        const claims = await Promise.all(
          Array.from({ length: 5 }, (_, index) => store.claim(`r${index}`, 60_000, { abilities: ['drive'] })),
        )
        expect(claims.filter(Boolean)).toEqual([{ ...ref, turn: 't1', attempt: 1 }])
      })

      it('[ST9] an expired lease is free, with a higher attempt; a finished or parked turn cannot be claimed', async () => {
        await store.commit(ref, run(startTurn('t1')))
        expect(await store.claim('r1', 1_000, { abilities: ['drive'] })).toMatchObject({ attempt: 1 })
        subject.advance(1_001)
        expect(await store.claim('r2', 1_000, { abilities: ['drive'] })).toMatchObject({ attempt: 2 })
        await store.commit(ref, run(propose('t1', 'rev-1', 'a')))
        subject.advance(1_001)
        expect(await store.claim('r3', 1_000, { abilities: ['drive'] })).toBeUndefined()
        await store.commit(ref, run(cancel('rev-1')))
        expect(await store.claim('r3', 1_000, { abilities: ['drive'] })).toMatchObject({ attempt: 3 })
        await store.commit(ref, run(finish('t1')))
        subject.advance(1_001)
        expect(await store.claim('r4', 1_000, { abilities: ['drive'] })).toBeUndefined()
      })

      it('[ST9] claims the wanted turn and no other', async () => {
        await store.commit(ref, run(startTurn('t1')))
        await store.commit(other, run(startTurn('t1')))
        expect(await store.claim('r', 1_000, { abilities: ['drive'], wanted: { ...other, turn: 't1' } })).toEqual({
          ...other,
          turn: 't1',
          attempt: 1,
        })
        expect(
          await store.claim('r', 1_000, { abilities: ['drive'], wanted: { ...other, turn: 't1' } }),
        ).toBeUndefined()
        expect(await store.claim('r', 1_000, { abilities: ['drive'] })).toMatchObject(ref)
      })

      it('[ST9] a claim gets what needs one of its abilities, and nothing else', async () => {
        const workspace = { machine: 'm1', path: '/work' }
        await store.commit(ref, run({ ...startTurn('t1'), workspace }))
        await store.commit(other, run(startTurn('t1')))
        expect(await store.claim('r1', 1_000, { abilities: [] })).toBeUndefined()
        expect(await store.claim('r1', 1_000, { abilities: ['drive', 'drive@m1:/other'] })).toMatchObject(other)
        for (const wanted of [undefined, { ...ref, turn: 't1' }]) {
          const elsewhere = { abilities: ['drive', 'drive@m2:/work', 'check@m1:/work', 'judge'], wanted } as const
          expect(await store.claim('r1', 1_000, elsewhere)).toBeUndefined()
        }
        const there = held(await store.claim('r2', 1_000, { abilities: ['drive', 'drive@m1:/work'] }))
        expect(there).toMatchObject(ref)
        // Anybody may end it now, once its runner is gone.
        await store.commit(ref, run({ type: 'stop_turn', turn_id: 't1' }))
        expect(await store.claim('r1', 1_000, { abilities: ['drive'] })).toBeUndefined()
        await store.release(there)
        expect(await store.claim('r1', 1_000, { abilities: ['drive'] })).toMatchObject({ ...ref, attempt: 2 })
      })

      it('[ST9] a commit with a lease that was overtaken is fenced and writes nothing', async () => {
        await store.commit(ref, run(startTurn('t1')))
        const first = held(await store.claim('r1', 1_000, { abilities: ['drive'] }))
        await store.commit({ ...ref, lease: first }, () => ({ events: [note('mine')], value: null }))
        subject.advance(1_001)
        // Late, but not claimed by another: still the holder.
        await store.commit({ ...ref, lease: first }, () => ({ events: [note('late')], value: null }))
        const second = held(await store.claim('r2', 1_000, { abilities: ['drive'] }))
        const before = (await store.load(ref)).seq
        const stale = store.commit({ ...ref, lease: first }, () => ({ events: [note('stale')], value: null }))
        await expect(stale).rejects.toMatchObject({ name: 'StoreError', code: 'fenced' })
        expect(await store.load(ref)).toMatchObject({ seq: before })
        await store.commit({ ...ref, lease: second }, () => ({ events: [note('new')], value: null }))
      })

      it('[ST9] it is fenced even if its key was used by the other attempt', async () => {
        await store.commit(ref, run(startTurn('t1')))
        const first = held(await store.claim('r1', 1_000, { abilities: ['drive'] }))
        subject.advance(1_001)
        const second = held(await store.claim('r2', 1_000, { abilities: ['drive'] }))
        const once = { key: 'k', bodyHash: '' }
        await store.commit({ ...ref, lease: second, once }, () => ({ events: [note('new')], value: null }))
        const stale = store.commit({ ...ref, lease: first, once }, () => ({ events: [note('stale')], value: null }))
        await expect(stale).rejects.toMatchObject({ name: 'StoreError', code: 'fenced' })
        const again = store.commit({ ...ref, lease: second, once }, () => ({ events: [note('new')], value: null }))
        expect(await again).toMatchObject({ replayed: true })
      })

      it('renew extends a held lease and reports a lost one; release frees it at once', async () => {
        await store.commit(ref, run(startTurn('t1')))
        const first = held(await store.claim('r1', 1_000, { abilities: ['drive'] }))
        subject.advance(900)
        expect(await store.renew(first, 1_000)).toBe(true)
        subject.advance(900)
        expect(await store.claim('r2', 1_000, { abilities: ['drive'] })).toBeUndefined()
        await store.release(first)
        expect(await store.renew(first, 1_000)).toBe(false)
        const second = held(await store.claim('r2', 1_000, { abilities: ['drive'] }))
        expect(second.attempt).toBe(2)
        await store.release(first)
        expect(await store.renew(first, 1_000)).toBe(false)
        expect(await store.renew(second, 1_000)).toBe(true)
      })
    })

    describe('deadlines', () => {
      it('lists overdue reviews by deadline, and the next deadline', async () => {
        expect((await store.due(10)).next).toBeUndefined()
        await store.commit(ref, run(startTurn('t1', { review_timeout_ms: 60_000 }), propose('t1', 'rev-late', 'a')))
        await store.commit(other, run(startTurn('t1', { review_timeout_ms: 1_000 }), propose('t1', 'rev-soon', 'a')))
        const early = await store.due(10)
        expect(early.reviews).toEqual([])
        expect(early.next).toBe((await store.load(other)).reviews.get('rev-soon')?.expires_at)
        subject.advance(1_001)
        const later = await store.due(10)
        expect(later.reviews).toEqual([{ ...other, review_id: 'rev-soon' }])
        expect(later.next).toBe((await store.load(ref)).reviews.get('rev-late')?.expires_at)
        subject.advance(60_000)
        expect((await store.due(10)).reviews.map(({ review_id }) => review_id)).toEqual(['rev-soon', 'rev-late'])
        expect((await store.due(1)).reviews).toHaveLength(1)
        await store.commit(other, run({ type: 'expire_review', review_id: 'rev-soon' }))
        expect((await store.due(10)).reviews.map(({ review_id }) => review_id)).toEqual(['rev-late'])
      })

      it('[RE20] one that gets more time falls due at its latest deadline, and is listed with it', async () => {
        await store.commit(ref, run(startTurn('t1', { review_timeout_ms: 60_000 }), propose('t1', 'rev-a', 'a')))
        await store.commit(other, run(startTurn('t1', { review_timeout_ms: 1_000 }), propose('t1', 'rev-b', 'a')))
        await store.commit(other, run({ type: 'extend_review', review_id: 'rev-b', ms: 90_000 }))
        const expires_at = (await store.load(other)).reviews.get('rev-b')?.expires_at
        const waiting = await store.queries.waiting('acme', undefined, { limit: 10 })
        expect(waiting.items).toMatchObject([{ review_id: 'rev-a' }, { review_id: 'rev-b', expires_at }])
        subject.advance(1_001)
        expect((await store.due(10)).reviews).toEqual([])
        subject.advance(60_000)
        expect(await store.due(10)).toEqual({ reviews: [{ ...ref, review_id: 'rev-a' }], next: expires_at })
        subject.advance(30_000)
        await store.commit(other, run({ type: 'expire_review', review_id: 'rev-b' }))
        const found = await store.queries.review('acme', 'rev-b')
        expect(found?.record.review).toMatchObject({ status: 'expired', timeout_ms: 1_000, expires_at })
      })

      it('a panel that leaves brings the deadline forward, and one that returns restores it', async () => {
        const policy = { review_timeout_ms: 60_000, panel_grace_ms: 500 }
        await store.commit(ref, run(startTurn('t1', policy), propose('t1', 'rev-1', 'a')))
        await store.commit(ref, run({ type: 'show_panel', review_id: 'rev-1', panel: 'p' }))
        await store.commit(ref, run({ type: 'leave_panel', review_id: 'rev-1', panel: 'p' }))
        const closing = (await store.load(ref)).reviews.get('rev-1')
        expect((await store.due(10)).next).toBe(closing?.closes_at)
        await store.commit(ref, run({ type: 'show_panel', review_id: 'rev-1', panel: 'p' }))
        expect((await store.due(10)).next).toBe(closing?.expires_at)
      })
    })

    describe('reviews without a deadline', () => {
      it('[RE20] never fall due, and are listed after those that do', async () => {
        const never = { review_timeout_ms: null, panel_grace_ms: null }
        const listedIds = async (): Promise<string[]> =>
          (await store.queries.waiting('acme', undefined, { limit: 10 })).items.map(({ review_id }) => review_id)
        await store.commit(ref, run(startTurn('t1', never), propose('t1', 'rev-a', 'a')))
        await store.commit(other, run(startTurn('t1', { review_timeout_ms: 1_000 }), propose('t1', 'rev-b', 'a')))
        expect(await listedIds()).toEqual(['rev-b', 'rev-a'])
        expect((await store.due(10)).next).toBe((await store.load(other)).reviews.get('rev-b')?.expires_at)
        await store.commit(ref, run({ type: 'show_panel', review_id: 'rev-a', panel: 'p' }))
        await store.commit(ref, run({ type: 'leave_panel', review_id: 'rev-a', panel: 'p' }))
        subject.advance(40 * 86_400_000)
        expect(await store.due(10)).toEqual({ reviews: [{ ...other, review_id: 'rev-b' }] })
        expect(await listedIds()).toEqual(['rev-a'])
        const found = await store.queries.review('acme', 'rev-a')
        expect(found?.record.review).toMatchObject({ status: 'pending', timeout_ms: null, expires_at: null })
        await store.commit(ref, run(cancel('rev-a')))
        expect(await listedIds()).toEqual([])
      })

      it('[RE26] a reopened one is listed with its draft, and keeps the record of the old one', async () => {
        const host = { toolset: 'runsheet', review_timeout_ms: 1_000 } as const
        const opens = { type: 'open_turn', turn_id: 't1', host } as const
        await store.commit(ref, run(opens, propose('t1', 'rev-a', 'a', 'b')))
        subject.advance(1_001)
        await store.commit(ref, run({ type: 'reopen_review', review_id: 'rev-a', new_review_id: 'rev-b' }))
        const [waiting] = (await store.queries.waiting('acme', ref.conversation, { limit: 10 })).items
        expect(waiting).toMatchObject({ review_id: 'rev-b', reopens: 'rev-a', status: 'pending' })
        expect(waiting?.draft_tasks.map(({ title }) => title)).toEqual(['a', 'b'])
        const old = (await store.queries.review('acme', 'rev-a'))?.record
        expect(old?.review).toMatchObject({ status: 'expired', draft_tasks: [{ title: 'a' }, { title: 'b' }] })
        expect(old?.resolution).toMatchObject({ action: 'cancel', reason: 'review_timeout', via: 'system' })
      })
    })

    describe('queries', () => {
      it('lists conversations newest first, page by page, with a title', async () => {
        for (let index = 0; index < 5; index += 1) {
          subject.advance(10)
          await store.commit(
            { tenant: 'acme', conversation: `c${index}` },
            run(startTurn('t1', {}, `Question ${index}\nmore`)),
          )
        }
        const first = await store.queries.conversations('acme', { limit: 2 })
        expect(first.items.map(({ session_id, title }) => [session_id, title])).toEqual([
          ['c4', 'Question 4 more'],
          ['c3', 'Question 3 more'],
        ])
        const second = await store.queries.conversations('acme', { limit: 2, cursor: first.next_cursor ?? '' })
        const third = await store.queries.conversations('acme', { limit: 2, cursor: second.next_cursor ?? '' })
        expect([...second.items, ...third.items].map(({ session_id }) => session_id)).toEqual(['c2', 'c1', 'c0'])
        expect(third.next_cursor).toBeNull()
        await expect(store.queries.conversations('acme', { limit: 2, cursor: 'junk' })).rejects.toMatchObject({
          code: 'invalid_field',
        })
      })

      it('lists pinned conversations first, then by last activity, and archived ones apart', async () => {
        const at = (conversation: string): Ref => ({ tenant: 'acme', conversation })
        for (const name of ['a', 'b', 'c', 'd', 'e']) {
          subject.advance(10)
          await store.commit(at(name), run(startTurn('t1')))
          subject.advance(10)
          await store.commit(at(name), run(finish('t1')))
        }
        await store.commit(at('b'), run({ type: 'set_pinned', pinned: true }))
        await store.commit(at('d'), run({ type: 'set_archived', archived: true }))
        await store.commit(at('e'), run({ type: 'set_pinned', pinned: true }, { type: 'set_archived', archived: true }))
        subject.advance(10)
        await store.commit(at('a'), run(startTurn('t2')))
        const all = async (list?: SessionList, limit = 2): Promise<string[]> => {
          const names: string[] = []
          for (let cursor: string | undefined; ; ) {
            const page = await store.queries.conversations('acme', { limit, cursor }, list)
            names.push(...page.items.map(({ session_id }) => session_id))
            if (page.next_cursor === null) return names
            cursor = page.next_cursor
          }
        }
        expect(await all()).toEqual(['b', 'a', 'c'])
        expect(await all('archived', 1)).toEqual(['e', 'd'])
        expect(await all('all')).toEqual(['e', 'd', 'c', 'b', 'a'])
        // Both come back: a person goes on with one, a plan waits in the other.
        await store.commit(at('d'), run(startTurn('t2', { toolset: 'task_list', review: true })))
        await store.commit(at('e'), run(startTurn('t2')))
        await store.commit(at('e'), run({ type: 'set_archived', archived: true }, propose('t2', 'rev-1', 'Look')))
        expect(await all('archived')).toEqual([])
        expect(await all()).toEqual(['e', 'b', 'd', 'a', 'c'])
        for (const list of ['active', 'archived', 'all'] as const) {
          await expect(store.queries.conversations('acme', { limit: 1, cursor: 'junk' }, list)).rejects.toMatchObject({
            code: 'invalid_field',
          })
        }
      })

      it('the row of a conversation has its marks and its last activity, to the minute between landmarks', async () => {
        const row = async (): Promise<Partial<ConversationSummary> | undefined> => {
          const found = await store.queries.conversation(ref)
          expect(await store.queries.summaries('acme', [ref.conversation, 'nowhere'])).toEqual([found])
          return found
        }
        const stamp = async (...commands: readonly Command[]): Promise<string> => {
          subject.advance(90_000)
          return (await store.commit(ref, run(...commands))).events[0]?.timestamp ?? ''
        }
        const started = await stamp(startTurn('t1', { toolset: 'task_list', review: true }))
        expect(await row()).toMatchObject({ mark: 'running', active_at: started, pinned: false, archived: false })
        const waits = await stamp(propose('t1', 'rev-1', 'Look'))
        expect(await row()).toMatchObject({ mark: 'waiting', active_at: waits })
        await stamp({ type: 'show_panel', review_id: 'rev-1', panel: 'p1' })
        expect(await row()).toMatchObject({ mark: 'waiting', active_at: waits })
        await stamp(cancel('rev-1'))
        const noted = await stamp({ type: 'record', turn_id: 't1', fact: message('Well') })
        expect(await row()).toMatchObject({ mark: 'running', active_at: `${noted.slice(0, 16)}:00.000Z` })
        const failed = await stamp({ type: 'finish_turn', turn_id: 't1', because: 'error', steps: 1, usage: {} })
        expect(await row()).toMatchObject({ mark: 'failed', active_at: failed })
        await stamp({ type: 'set_title', by: 'person', title: 'Mine' }, { type: 'set_pinned', pinned: true })
        expect(await row()).toMatchObject({ title: 'Mine', pinned: true, mark: 'failed', active_at: failed })
        await stamp({ type: 'set_title', by: 'model', title: 'Not mine' })
        await stamp(startTurn('t2'))
        await stamp(finish('t2'))
        expect(await row()).toMatchObject({ title: 'Mine', pinned: true, mark: null })
      })

      it('a conversation without a message is titled after its first task, proposed or created', async () => {
        const titles = async (): Promise<unknown> =>
          (await store.queries.conversations('acme', { limit: 5 })).items.map(({ title }) => title)
        const proposed = { tenant: 'acme', conversation: 'proposed' }
        await store.commit(proposed, run(openTurn('t1'), propose('t1', 'rev-1', 'Look', 'Leap')))
        expect(await titles()).toEqual(['Look'])
        subject.advance(10)
        const made = { tenant: 'acme', conversation: 'made' }
        await store.commit(made, run(openTurn('t1'), add('t1', 'Write')))
        expect(await titles()).toEqual(['Write', 'Look'])
      })

      it('finds a review by id with its drafts, before and after it is resolved', async () => {
        await store.commit(ref, run(startTurn('t1'), propose('t1', 'rev-1', 'a', 'b')))
        const pending = await store.queries.review('acme', 'rev-1')
        expect(pending).toMatchObject({ ...ref, record: { review: { status: 'pending' }, resolution: null } })
        await store.commit(ref, run(cancel('rev-1')))
        const resolved = await store.queries.review('acme', 'rev-1')
        expect(resolved?.record.review).toEqual({ ...pending?.record.review, status: 'cancelled' })
        expect(resolved?.record.resolution).toMatchObject({ action: 'cancel', reason: 'user_cancelled' })
        expect(resolved?.record.tasks).toEqual([])
        expect(await store.queries.review('acme', 'rev-2')).toBeUndefined()
        expect(await store.queries.review('other', 'rev-1')).toBeUndefined()
      })

      it('a confirmed review has the tasks that it created, not those of concurrent calls', async () => {
        const refs = [ref, other]
        for (const each of refs)
          await store.commit(each, run(startTurn('t1'), propose('t1', `rev-${each.conversation}`, 'a')))
        const calls = refs.flatMap(each => [
          store.commit(each, run({ type: 'edit_tasks', by: 'person', create: [{ id: testId(), title: 'by hand' }] })),
          store.commit(each, run(confirm(`rev-${each.conversation}`, 'x', 'y'))),
        ])
        await Promise.all(calls)
        for (const each of refs) {
          const { record } = (await store.queries.review('acme', `rev-${each.conversation}`)) ?? {}
          expect(record?.tasks.map(({ title }) => title)).toEqual(['x', 'y'])
          expect(record?.resolution).toMatchObject({ action: 'confirm', created_count: 2 })
        }
      })

      it('lists pending reviews by deadline, of one conversation or of all', async () => {
        const waiting = async (conversation?: string): Promise<string[]> =>
          (await store.queries.waiting('acme', conversation, { limit: 10 })).items.map(({ review_id }) => review_id)
        const ids = [ref, other].map(({ conversation }) => `rev-${conversation}`)
        for (const [index, each] of [ref, other].entries())
          await store.commit(each, run(startTurn('t1'), propose('t1', ids[index] ?? '', 'a')))
        expect(await waiting()).toEqual(ids)
        expect(await waiting(other.conversation)).toEqual([ids[1]])
        expect((await store.queries.waiting('another', undefined, { limit: 10 })).items).toEqual([])
        const counted = [await store.queries.waitingCount('acme', 10), await store.queries.waitingCount('acme', 1)]
        expect([...counted, await store.queries.waitingCount('another', 10)]).toEqual([2, 1, 0])
        await store.commit(ref, run(cancel(ids[0] ?? '')))
        expect(await waiting()).toEqual([ids[1]])
      })

      it('lists pending reviews page by page, with and without a deadline', async () => {
        const timed = { toolset: 'task_manager' } as const
        const untimed = { toolset: 'runsheet' } as const
        for (const [index, host] of [untimed, timed, untimed, timed, untimed].entries()) {
          const at = { tenant: 'acme', conversation: `c${index}` }
          const id = `rev-${index}`
          await store.commit(at, run({ type: 'open_turn', turn_id: 't1', host }, propose('t1', id, 'a')))
          subject.advance(10)
        }
        for (const limit of [1, 2, 3]) {
          let cursor: string | undefined
          const listed: string[] = []
          do {
            const page = await store.queries.waiting('acme', undefined, { limit, cursor })
            listed.push(...page.items.map(({ review_id }) => review_id))
            expect(page.items.length).toBeLessThanOrEqual(limit)
            cursor = page.next_cursor ?? undefined
          } while (cursor !== undefined)
          expect(listed).toEqual(['rev-1', 'rev-3', 'rev-0', 'rev-2', 'rev-4'])
        }
        await expect(store.queries.waiting('acme', undefined, { limit: 2, cursor: 'junk' })).rejects.toMatchObject({
          code: 'invalid_field',
        })
      })

      it('a page of pending reviews ends early where their drafts are long', async () => {
        const long = 'x'.repeat(8_000)
        for (let index = 0; index < 5; index += 1) {
          const create = Array.from({ length: 20 }, () => ({ id: testId(), title: 'a', details: long, criteria: long }))
          const review = { ...ASKED, review_id: `rev-${index}`, tool_call_id: 'call' }
          await store.commit(
            { tenant: 'acme', conversation: `c${index}` },
            run(startTurn('t1'), { type: 'edit_tasks', by: 'model', turn_id: 't1', create, review }),
          )
        }
        const first = await store.queries.waiting('acme', undefined, { limit: 5 })
        const rest = await store.queries.waiting('acme', undefined, { limit: 5, cursor: first.next_cursor ?? '' })
        expect([first.items.length, rest.items.length, rest.next_cursor]).toEqual([3, 2, null])
      })

      it('finds a conversation by its id', async () => {
        await store.commit(ref, run(startTurn('t1')))
        const [first] = (await store.queries.conversations('acme', { limit: 10 })).items
        expect(await store.queries.conversation(ref)).toEqual(first)
        expect(await store.queries.conversation(other)).toBeUndefined()
      })

      it('reads the newest part of the log, in order', async () => {
        await store.commit(ref, run(startTurn('t1', { review: false }), add('t1', 'a', 'b', 'c')))
        const all = await store.queries.events(ref, {})
        expect(await store.queries.events(ref, { last: 2 })).toEqual(all.slice(-2))
        expect(await store.queries.events(ref, { last: 1_000 })).toEqual(all)
        const made = all.filter(({ type }) => type === 'task_created')
        expect(await store.queries.events(ref, { types: ['task_created'], last: 2 })).toEqual(made.slice(-2))
      })

      it('reads the log by type and by task', async () => {
        const { conversation } = await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
        await store.commit(ref, run(settle('t1', 1)))
        const id = [...conversation.tasks.values()].find(({ number }) => number === 1)?.id
        const timeline = await store.queries.events(ref, { task: id })
        expect(timeline.map(({ type }) => type)).toEqual(['task_created', 'task_changed'])
        const created = await store.queries.events(ref, { types: ['task_created', 'turn_opened'] })
        expect(created.map(({ seq }) => seq)).toEqual([2, 3, 4])
        expect(await store.queries.events(ref, { types: ['task_changed'], task: id })).toHaveLength(1)
      })
    })

    it('live text is overwritten, hinted at, read by other processes, and cleared', async () => {
      const stop = new AbortController()
      const reader = (await subject.another?.()) ?? store
      const hints = reader.changes(stop.signal)[Symbol.asyncIterator]()
      await store.commit(ref, run(startTurn('t1')))
      await nextHint(hints, ref)
      expect(await store.live.read(ref)).toBeUndefined()
      await store.live.write(ref, { turn_id: 't1', message_id: 'm1', text: 'Hel' })
      await store.live.write(ref, { turn_id: 't1', message_id: 'm1', text: 'Hello' })
      while ((await reader.live.read(ref))?.text !== 'Hello') {
        expect(await nextHint(hints, ref)).toMatchObject({ kind: 'text' })
      }
      expect(await reader.live.read(ref)).toEqual({ turn_id: 't1', message_id: 'm1', text: 'Hello' })
      await store.live.clear(ref)
      expect(await reader.live.read(ref)).toBeUndefined()
      stop.abort()
      if (reader !== store) await reader.close()
    })

    it('[HT26] a probe writes nothing that a log, a list or a query shows', async () => {
      await store.commit(ref, run(openTurn('t1')))
      const before = freeze(await store.load(ref))
      for (const room of [false, true, false]) await store.probe({ room })
      expect(freeze(await store.load(ref))).toBe(before)
      const { items } = await store.queries.conversations(ref.tenant, { limit: 10 })
      expect(items.map(({ session_id }) => session_id)).toEqual([ref.conversation])
      expect(await store.queries.conversations('', { limit: 10 })).toMatchObject({ items: [] })
    })

    it('close finishes calls under way and rejects later ones', async () => {
      const underWay = store.commit(ref, () => ({ events: [note('a')], value: 'done' }))
      await store.close()
      expect((await underWay).value).toBe('done')
      const late = [
        store.commit(ref, () => ({ events: [], value: 0 })),
        store.load(ref),
        store.eventsAfter(ref, 0, 1),
        store.claim('r', 1, { abilities: ['drive'] }),
        store.due(1),
        store.probe({ room: false }),
        store.queries.conversations('acme', { limit: 1 }),
        store.live.write(ref, { turn_id: 't', message_id: 'm', text: '' }),
      ]
      for (const call of late) await expect(call).rejects.toMatchObject({ code: 'closed' })
    })

    it('[ST22] acknowledged commits survive reopening', async () => {
      if (!subject.reopen) return
      await store.commit(
        { ...ref, once: { key: 'k', bodyHash: 'h' } },
        run(startTurn('t1', { review_timeout_ms: 120_000 }), propose('t1', 'rev-1', 'a')),
      )
      const before = freeze(await store.load(ref))
      await store.close()
      store = await subject.reopen()
      expect(freeze(await store.load(ref))).toBe(before)
      expect(
        await store.commit({ ...ref, once: { key: 'k', bodyHash: 'h' } }, () => ({ events: [], value: null })),
      ).toMatchObject({ replayed: true })
      subject.advance(120_001)
      expect((await store.due(10)).reviews).toEqual([{ ...ref, review_id: 'rev-1' }])
    })

    it('[ST1][FA2] two handles that write concurrently lose nothing', async () => {
      const elsewhere = (await subject.another?.()) ?? store
      const calls = Array.from({ length: 200 }, (_, index) =>
        (index % 2 ? store : elsewhere).commit(ref, state => ({ events: [note(`${index}`)], value: state.seq })),
      )
      const seen = (await Promise.all(calls)).map(({ value }) => value)
      expect(new Set(seen).size).toBe(200)
      const events = await store.eventsAfter(ref, 0, 1_000)
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      expect(events).toHaveLength(200)
      if (elsewhere !== store) await elsewhere.close()
    })
  })
}

/** The same, and the rules of what a store may have besides: search, templates, notices, imports, verification. */
export function fullContract(name: string, open: () => Promise<Subject<FullStore>>): void {
  storeContract(name, open)
  describe(`${name}: what a store may have`, () => {
    let subject: Subject<FullStore>
    let store: FullStore
    beforeEach(async () => {
      subject = await open()
      store = subject.store
    })
    afterEach(() => ended(subject, store))

    it('finds conversations by the words of their title, page by page', async () => {
      const titles = ['Größe ÄNDERN', '100% sure', 'snake_case', 'ändern: the rest', 'ЖУРНАЛ', 'plain', 'a\\b']
      for (const [index, title] of titles.entries()) {
        subject.advance(10)
        await store.commit({ tenant: 'acme', conversation: `c${index}` }, run(startTurn('t1', {}, title)))
      }
      await store.commit({ tenant: 'acme', conversation: 'untitled' }, run(openTurn('t1')))
      await store.commit({ tenant: 'other', conversation: 'x' }, run(startTurn('t1', {}, 'ändern, elsewhere')))
      const found = async (text: string): Promise<(string | null)[]> =>
        (await store.search.conversations('acme', text, { limit: 10 })).items.map(({ title }) => title)
      expect(await found('Ändern')).toEqual(['ändern: the rest', 'Größe ÄNDERN'])
      expect(await found('журнал')).toEqual(['ЖУРНАЛ'])
      for (const [text, title] of [
        ['100% su', '100% sure'],
        ['snake ca', 'snake_case'],
        ['a\\b', 'a\\b'],
        ['grosse', 'Größe ÄNDERN'],
      ] as const) {
        expect(await found(text)).toEqual([title])
      }
      for (const text of ['%', '_', '*', 'p%n', 'groesse', 'null', "' OR 1=1 --"]) expect(await found(text)).toEqual([])
      const first = await store.search.conversations('acme', 'ÄNDERN', { limit: 1 })
      const cursor = first.next_cursor ?? ''
      const rest = await store.search.conversations('acme', 'ÄNDERN', { limit: 1, cursor })
      expect([...first.items, ...rest.items].map(({ session_id }) => session_id)).toEqual(['c3', 'c0'])
      expect(rest.next_cursor).toBeNull()
    })

    it('a conversation is found by the title that it has, and only in its tenant', async () => {
      const title = { type: 'set_title', by: 'person', title: 'Mine' } as const
      await store.commit(ref, run(startTurn('t1', { review: false }), title, add('t1', 'secret')))
      const page = { limit: 5 }
      const row = await store.queries.conversation(ref)
      expect((await store.search.conversations('acme', 'mine', page)).items).toEqual([row])
      expect((await store.search.conversations('acme', 'do it', page)).items).toEqual([])
      expect((await store.search.tasks('other', 'secret', page)).items).toEqual([])
    })

    it('finds tasks by the words of title, details and outcome', async () => {
      await store.commit(ref, run(openTurn('t1'), add('t1', 'Größe ÄNDERN', '100% sure', 'plain')))
      await store.commit(
        ref,
        run({
          type: 'edit_tasks',
          by: 'person',
          change: [{ task: 3, fields: { outcome: 'Shipped_it', details: 'see NOTES' } }],
        }),
      )
      const found = async (text: string): Promise<string[]> =>
        (await store.search.tasks('acme', text, { limit: 10 })).items.map(({ title }) => title)
      expect(await found('größe ändern')).toEqual(['Größe ÄNDERN'])
      expect(await found('100% S')).toEqual(['100% sure'])
      expect(await found('%')).toEqual([])
      expect(await found('plain notes ship')).toEqual(['plain'])
      expect(await found('SHIPPED_IT')).toEqual(['plain'])
      expect(await found('notes')).toEqual(['plain'])
      expect(await found("' OR 1=1 --")).toEqual([])
      await store.commit(ref, run({ type: 'edit_tasks', by: 'person', remove: [{ task: 3 }] }))
      expect(await found('notes')).toEqual([])
    })

    it('keeps templates by name and tenant', async () => {
      await store.templates.put('acme', template('b', 'old'))
      await store.templates.put('acme', template('a', 'x'))
      await store.templates.put('acme', template('b', 'y'))
      expect(await store.templates.list('acme')).toEqual([template('a', 'x'), template('b', 'y')])
      expect(await store.templates.get('acme', 'b')).toEqual(template('b', 'y'))
      expect(await store.templates.get('other', 'b')).toBeUndefined()
      expect([await store.templates.delete('acme', 'b'), await store.templates.delete('acme', 'b')]).toEqual([
        true,
        false,
      ])
    })

    it('renames a template, unless the name is taken; of two at once one wins', async () => {
      await store.templates.put('acme', template('a', 'x'))
      await store.templates.put('acme', template('b', 'y'))
      await store.templates.put('other', template('c', 'z'))
      expect(await store.templates.rename('acme', 'a', 'b')).toBe('taken')
      expect(await store.templates.rename('acme', 'nowhere', 'c')).toBe('unknown')
      expect(await store.templates.list('acme')).toEqual([template('a', 'x'), template('b', 'y')])
      const outcomes = await Promise.all(['c', 'd'].map(name => store.templates.rename('acme', 'a', name)))
      expect(outcomes.toSorted()).toEqual(['renamed', 'unknown'])
      const name = outcomes[0] === 'renamed' ? 'c' : 'd'
      expect(await store.templates.list('acme')).toEqual([template('b', 'y'), template(name, 'x')])
      expect(await store.templates.get('acme', name)).toEqual(template(name, 'x'))
    })

    it('notes what is to be told, with the commit, for tenants whose notices are wanted, and not for imports', async () => {
      const { notices } = store
      const seqs = async (): Promise<number[]> =>
        (await notices.take('acme', 10, 1_000)).map(({ seq }) => seq).toSorted((a, b) => a - b)
      await store.commit(ref, run(startTurn('t0'), finish('t0')))
      expect([await notices.waiting('acme'), await seqs()]).toEqual([{ count: 0 }, []])
      await notices.want('acme', 60_000)
      await store.commit(ref, run(startTurn('t1', { toolset: 'task_list', review: true })))
      const asked = await store.commit(ref, run(propose('t1', 'rev-1', 'Look')))
      const ended = await store.commit(ref, run(cancel('rev-1'), finish('t1')))
      await store.commit({ ...ref, tenant: 'other' }, run(startTurn('t1'), finish('t1')))
      const [begun] = await commitsAfter(store, ref, 0, 100)
      const events = begun?.events.map(event => ({ ...event, session_id: 'copy' })) ?? []
      await store.importLog({ tenant: 'acme', conversation: 'copy' }, [commitOf(events)])
      expect(await notices.waiting('acme')).toEqual({ count: 2, dueInMs: 0 })
      expect(await seqs()).toEqual([asked.events[0]?.seq, ended.events.at(-1)?.seq])
      const failing = store.commit(ref, () => {
        throw new Error('boom')
      })
      await expect(failing).rejects.toThrow('boom')
      subject.advance(60_001)
      await store.commit(ref, run(startTurn('t2'), finish('t2')))
      expect((await notices.waiting('acme')).count).toBe(2)
      for (const notice of await notices.take('acme', 10, 1_000)) expect(await notices.settle(notice)).toBe(true)
      expect(await notices.waiting('acme')).toEqual({ count: 0 })
    })

    it('each is taken by one, falls due again after a while, and is settled only by who took it last', async () => {
      const elsewhere = (await subject.another?.()) ?? store
      await store.notices.want('acme', 3_600_000)
      for (let index = 0; index < 5; index += 1) {
        await store.commit(ref, run(startTurn(`t${index}`), finish(`t${index}`)))
      }
      const takes = await Promise.all(
        [store, elsewhere, store, elsewhere].map(each => each.notices.take('acme', 3, 5_000)),
      )
      const taken = takes.flat()
      expect(new Set(taken.map(({ seq }) => seq)).size).toBe(5)
      expect(taken.every(({ tries }) => tries === 1)).toBe(true)
      const [first, second] = taken
      if (!first || !second) throw new TypeError('nothing was taken')
      expect(await store.notices.settle(first, 60_000)).toBe(true)
      expect(await elsewhere.notices.take('acme', 10, 5_000)).toEqual([])
      subject.advance(5_001)
      const again = await elsewhere.notices.take('acme', 10, 5_000)
      const others = taken.filter(({ seq }) => seq !== first.seq)
      expect(new Set(again.map(({ seq }) => seq))).toEqual(new Set(others.map(({ seq }) => seq)))
      expect(again).toHaveLength(4)
      expect(again.every(({ tries }) => tries === 2)).toBe(true)
      expect(await store.notices.settle(second)).toBe(false)
      expect(await store.notices.settle(second, 1)).toBe(false)
      subject.advance(60_001)
      const last = await store.notices.take('acme', 10, 1_000)
      expect(last.map(({ seq, tries }) => [seq === first.seq, tries])).toEqual(
        expect.arrayContaining([[true, 2], ...others.map(() => [false, 3])]),
      )
      expect(last).toHaveLength(5)
      if (elsewhere !== store) await elsewhere.close()
    })

    describe('importLog', () => {
      /** A log with a plan, a confirmed and a pending review, made in another conversation that does not stay. */
      const source: Ref = { tenant: 'elsewhere', conversation: ref.conversation }
      const written = async (): Promise<Commit[]> => {
        await store.commit(source, run(startTurn('t1', { review_timeout_ms: 120_000 }), propose('t1', 'rev-1', 'a')))
        await store.commit(source, run(confirm('rev-1', 'a', 'b')))
        await store.commit(source, () => ({ events: [note('between')], value: null }))
        await store.commit(source, run(propose('t1', 'rev-2', 'c')))
        const commits = await commitsAfter(store, source, 0, 1_000)
        return [...commits]
      }

      it('[BK8] writes a log as it is: events, state, rows, and what a commit after it needs', async () => {
        const commits = await written()
        await store.importLog(ref, commits)
        expect(await store.eventsAfter(ref, 0, 1_000)).toEqual(await store.eventsAfter(source, 0, 1_000))
        expect(freeze(await store.load(ref))).toBe(freeze(await store.load(source)))
        const shown = async (at: Ref): Promise<unknown[]> => [
          await store.queries.conversation(at),
          await store.queries.waiting(at.tenant, at.conversation, { limit: 10 }),
          (await store.queries.review(at.tenant, 'rev-1'))?.record,
          (await store.search.tasks(at.tenant, 'b', { limit: 10 })).items,
        ]
        expect(await shown(ref)).toEqual(await shown(source))
        const { seq } = await store.load(ref)
        const next = await store.commit(ref, () => ({ events: [note('after')], value: null }))
        expect(next.events).toMatchObject([{ seq: seq + 1 }])
        expect(await store.claim('r', 1_000, { abilities: ['drive'], wanted: { ...ref, turn: 't1' } })).toBeUndefined()
      })

      it('[BK8] writes nothing where the conversation has events, where an id is taken, or if the commits end early', async () => {
        const commits = await written()
        const broken = function* (): Generator<Commit> {
          yield* commits.slice(0, 2)
          throw new Error('the file ends here')
        }
        await expect(store.importLog(ref, broken())).rejects.toThrow('the file ends here')
        expect(await store.load(ref)).toMatchObject({ seq: 0 })
        await store.importLog(ref, commits)
        const before = freeze(await store.load(ref))
        await expect(store.importLog(ref, commits)).rejects.toMatchObject({ code: 'id_taken' })
        expect(freeze(await store.load(ref))).toBe(before)
        await expect(store.importLog(other, commits)).rejects.toMatchObject({ code: 'id_taken' })
        expect(await store.load(other)).toMatchObject({ seq: 0 })
        expect(await store.queries.conversation(other)).toBeUndefined()
      })
    })

    it('[ST24] verify finds every log in agreement with its rows, while others write', async () => {
      const elsewhere = (await subject.another?.()) ?? store
      await store.commit(ref, run(startTurn('t1', { review: true }), propose('t1', 'rev-1', 'a', 'b')))
      await store.commit(ref, run(confirm('rev-1', 'a', 'c')))
      await store.commit(other, run(openTurn('t1'), add('t1', 'a', 'b\0c')))
      await store.commit(other, run(settle('t1', 2)))
      await store.commit({ ...other, tenant: 'globex' }, run(startTurn('t1'), propose('t1', 'rev-2', 'a')))
      const done = new AbortController()
      const writer = (async () => {
        for (let index = 0; !done.signal.aborted; index += 1)
          await elsewhere.commit(other, run(rename('t1', 1, `title ${index}`)))
      })()
      for (let times = 0; times < 3; times += 1) expect(await differencesIn(store)).toEqual([])
      done.abort()
      await writer
      if (elsewhere !== store) await elsewhere.close()
    })

    it('a closed store keeps no template', async () => {
      await store.close()
      await expect(store.templates.put('acme', template('a', 'x'))).rejects.toMatchObject({ code: 'closed' })
    })
  })
}

/** Ends a test. */
async function ended(subject: Subject<Store>, store: Store): Promise<void> {
  const found = await differencesIn(store)
  await store.close()
  await subject.dispose()
  // Whatever a test has done: the rows are what the log says.
  expect(found).toEqual([])
}

/** What `verify` finds; nothing in a closed store, or in one that has nothing beside its log. */
async function differencesIn(store: Store): Promise<string[]> {
  const found: string[] = []
  if (!store.verifiable) return found
  try {
    for await (const difference of verify(store.verifiable())) found.push(difference)
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'closed') throw error
  }
  return found
}

const ASKED = { toolset: 'task_list', tool: 'AddTask' } as const

let ids = 0
/** Consecutive ids in our format. */
export const testId = (): string => `0190a000-0000-7000-8000-${String((ids += 1)).padStart(12, '0')}`

/** A decision that runs commands by the domain's rules. */
export function run(...commands: readonly Command[]): Decide<null> {
  return (state, now) => {
    const events: NewEvent[] = []
    let current = state
    for (const command of commands) {
      const decided = decide(current, command, now)
      if (decided instanceof Refusal) throw decided
      events.push(...decided)
      current = fold(current, stamped(current, decided, now))
    }
    return { events, value: null }
  }
}

export const openTurn = (turn_id: string): Command => ({
  type: 'open_turn',
  turn_id,
  host: { toolset: 'task_manager', review: false },
})

export const startTurn = (turn_id: string, policy: object = {}, message = 'Do it'): CommandOf<'start_turn'> => ({
  type: 'start_turn',
  turn_id,
  message_id: `m-${turn_id}`,
  message,
  model: 'test',
  policy,
})

export const add = (turn_id: string, ...titles: readonly string[]): Command => ({
  type: 'edit_tasks',
  by: 'model',
  turn_id,
  create: titles.map(title => ({ id: testId(), title })),
})

export const propose = (turn_id: string, review_id: string, ...titles: readonly string[]): Command => ({
  type: 'edit_tasks',
  by: 'model',
  turn_id,
  create: titles.map(title => ({ id: testId(), title })),
  review: { ...ASKED, review_id, tool_call_id: `call-${review_id}` },
})

export const cancel = (review_id: string): Command => ({
  type: 'decide_review',
  review_id,
  decision: { action: 'cancel' },
  via: 'library',
  ids: [],
})

export const confirm = (review_id: string, ...titles: readonly string[]): Command => ({
  type: 'decide_review',
  review_id,
  decision: { action: 'confirm', tasks: titles.map(title => ({ title })) },
  via: 'library',
  ids: titles.map(testId),
})

export const settle = (turn_id: string, task: number): Command => ({
  type: 'edit_tasks',
  by: 'model',
  turn_id,
  change: [{ task, fields: { status: 'completed', outcome: 'Done.' } }],
})

export const rename = (turn_id: string, task: number, title: string): Command => ({
  type: 'edit_tasks',
  by: 'model',
  turn_id,
  change: [{ task, fields: { title } }],
})

export const finish = (turn_id: string): Command => ({
  type: 'finish_turn',
  turn_id,
  because: 'stopped',
  steps: 1,
  usage: {},
})

/** An event that needs no state: a message. */
export const note = (text: string): NewEvent => ({ ...message(text), turn_id: 't' })

const message = (text: string) =>
  ({ type: 'message_added', data: { message_id: 'm', role: 'assistant', text } }) as const

const template = (name: string, title: string): Template => ({
  name,
  tasks: [{ title, details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] }],
})

/** The next hint about a conversation, skipping others. */
export async function nextHint(hints: AsyncIterator<Hint>, wanted: Ref): Promise<Hint> {
  for (;;) {
    const { value, done } = await hints.next()
    if (done) throw new Error('no more hints')
    if (value.tenant === wanted.tenant && value.conversation === wanted.conversation) return value
  }
}

export function held(lease: Lease | undefined): Lease {
  if (!lease) throw new Error('no lease')
  return lease
}
