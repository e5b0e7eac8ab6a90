import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { PolicyPatch } from '../src/core/model/policy.ts'
import { type Commit, openDoor, hashOf, type Door } from '../src/engine/door/door.ts'
import { cancel, note, openTurn, propose, run, startTurn, type LiveStore } from './store/contract.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import type { Ref, Store } from '../src/store/store.ts'
import { type Place, placeFor, type StoreKind } from './support/stores.ts'

const ref: Ref = { tenant: 'local', conversation: 'chat' }
const KINDS: readonly StoreKind[] = ['memory', 'sqlite', 'json', 'postgres']
const url = inject('postgresUrl')

describe.each(KINDS.filter(kind => kind !== 'postgres' || url !== ''))('the door on %s', kind => {
  let place: Place
  let store: LiveStore
  let door: Door
  const others: Door[] = []
  beforeEach(async () => {
    place = await placeFor(kind, url)
    store = await place.open()
    door = openDoor({ store })
  })
  afterEach(async () => {
    await Promise.all([door, ...others.splice(0)].map(each => each.close()))
    await place.remove()
  })

  /** Another door on the same data, as another process has it; for memory there is only the one. */
  async function anotherDoor(): Promise<Door> {
    if (kind === 'memory') return door
    const another = openDoor({ store: await place.open() })
    others.push(another)
    return another
  }

  const write = (door: Door, text: string): Promise<unknown> =>
    door.run(ref, {
      type: 'record',
      turn_id: 't1',
      fact: { type: 'message_added', data: { message_id: 'm', role: 'user', text } },
    })

  async function collect(commits: AsyncIterable<Commit>, until: number): Promise<number[]> {
    const seqs: number[] = []
    for await (const { events } of commits) {
      seqs.push(...events.map(({ seq }) => seq))
      if (seqs.length >= until) break
    }
    return seqs
  }

  const countTo = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)

  describe('run', () => {
    it('decides, commits and answers with what came of it', async () => {
      const { events, conversation } = await door.run(ref, openTurn('t1'), {
        type: 'edit_tasks',
        by: 'model',
        turn_id: 't1',
        create: [{ id: door.newId(), title: ' a\n' }],
      })
      expect(events.map(({ type }) => type)).toEqual(['policy_set', 'turn_opened', 'task_created'])
      expect([...conversation.tasks.values()]).toMatchObject([{ number: 1, title: 'a', status: 'in_progress' }])
      expect([...(await door.read(ref)).tasks.values()]).toEqual([...conversation.tasks.values()])
    })

    it('[EV4] throws a refusal and writes nothing, also of what came before it in the same run', async () => {
      const refused = door.run(ref, openTurn('t1'), {
        type: 'edit_tasks',
        by: 'model',
        turn_id: 't1',
        create: [{ id: door.newId(), title: ' ' }],
      })
      await expect(refused).rejects.toMatchObject({
        name: 'Refusal',
        code: 'invalid_field',
        data: { row: 0, field: 'title' },
      })
      expect((await door.read(ref)).seq).toBe(0)
    })

    it.each(['', 'a/b', '..', 'a b', 'ä', 'x'.repeat(129), 'a\u0000'])(
      '[ID1] refuses the conversation id %j everywhere',
      async conversation => {
        const bad = { ...ref, conversation }
        await expect(door.run(bad, openTurn('t1'))).rejects.toMatchObject({ code: 'invalid_id' })
        await expect(door.read(bad)).rejects.toMatchObject({ code: 'invalid_id' })
        expect(() => door.tail(bad)).toThrow(expect.objectContaining({ code: 'invalid_id' }))
      },
    )

    it('a transaction can look at what came of a command, go on after a refusal, and make the answer', async () => {
      const { value, events } = await door.transact(ref, transaction => {
        transaction.mustRun(openTurn('t1'))
        const refused = transaction.run({ type: 'edit_tasks', by: 'model', turn_id: 't1', create: [] })
        transaction.mustRun({
          type: 'edit_tasks',
          by: 'model',
          turn_id: 't1',
          create: [{ id: door.newId(), title: 'a' }],
        })
        return { refused: refused instanceof Error ? refused.message : '', tasks: transaction.state.tasks.size }
      })
      expect(value).toEqual({ refused: 'At least 1 task is needed.', tasks: 1 })
      expect(events).toHaveLength(3)
    })

    it('a discarded transaction writes nothing, leaves its key unused and still returns its value', async () => {
      const at = { ...ref, once: { key: 'call-1', bodyHash: 'h' } }
      const discarded = await door.transact(at, transaction => {
        transaction.mustRun(openTurn('t1'))
        return transaction.discard('ask first')
      })
      expect(discarded).toMatchObject({ value: 'ask first', events: [], replayed: false, conversation: { seq: 0 } })
      expect(await door.run(at, openTurn('t1'))).toMatchObject({ replayed: false, conversation: { seq: 2 } })
    })
  })

  describe('tail', () => {
    it('[DO2] replays from a seq and goes on live', async () => {
      await door.run(ref, openTurn('t1'))
      const tail = collect(door.tail(ref, { after: 1 }), 6)
      for (let index = 0; index < 5; index += 1) await write(door, `${index}`)
      expect(await tail).toEqual(countTo(2, 7))
    })

    it('[DO2] has no gaps and no duplicates under concurrent writers, from any seq, also when another process writes', async () => {
      await door.run(ref, openTurn('t1'))
      const elsewhere = await anotherDoor()
      const total = 2 + 120
      const readers = [door, elsewhere].flatMap(reader =>
        [0, 1, 2, 2, 2].map(after => ({ after, seqs: collect(reader.tail(ref, { after }), total - after) })),
      )
      const late: typeof readers = []
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let index = 0; index < 30; index += 1) {
          await write(writer % 2 ? door : elsewhere, `${writer} ${index}`)
          const after = (writer * 7 + index * 3) % 30
          if (index % 10 === 5) late.push({ after, seqs: collect(door.tail(ref, { after }), total - after) })
        }
      })
      await Promise.all(writers)
      for (const { after, seqs } of [...readers, ...late]) expect(await seqs).toEqual(countTo(after + 1, total))
    })

    it('[DO2] catches up with a log that is longer than what it holds in memory', async () => {
      await door.run(ref, openTurn('t1'))
      const slow = door.tail(ref)[Symbol.asyncIterator]()
      expect((await slow.next()).value).toMatchObject({ seq: 2, events: [{ seq: 1 }, { seq: 2 }] })
      for (let round = 0; round < 5; round += 1) {
        await store.commit(ref, () => ({ events: Array.from({ length: 500 }, () => note('x')), value: null }))
      }
      const seqs: number[] = []
      while (seqs.length < 2_500) seqs.push(...seqsOf((await slow.next()).value))
      expect(seqs).toEqual(countTo(3, 2_502))
      await slow.return?.()
    })

    it('[DO2] yields whole commits, also those that are longer than a page of the log', async () => {
      const sizes = [3, 1, 498, 1_200, 2]
      for (const size of sizes) {
        await store.commit(ref, () => ({ events: Array.from({ length: size }, () => note('x')), value: null }))
      }
      const commits: Commit[] = []
      for await (const commit of door.tail(ref)) if (commits.push(commit) === sizes.length) break
      expect(commits.map(({ events }) => events.length)).toEqual(sizes)
      expect(commits.map(({ seq }) => seq)).toEqual([3, 4, 502, 1_702, 1_704])
      expect(commits.map(({ timestamp }) => timestamp)).toEqual(commits.map(({ events }) => events[0]?.timestamp))
    })

    it('live text does not make a tail read the log', async () => {
      await door.run(ref, openTurn('t1'))
      let reads = 0
      const eventsAfter = store.eventsAfter.bind(store)
      store.eventsAfter = (...args) => {
        reads += 1
        return eventsAfter(...args)
      }
      const tail = door.tail(ref, { after: 2 })[Symbol.asyncIterator]()
      const next = tail.next()
      await write(door, 'a')
      await next
      const after = tail.next()
      reads = 0
      for (let index = 0; index < 10; index += 1) {
        await store.live.write(ref, { turn_id: 't1', message_id: 'm', text: `${index}` })
      }
      // At most the read with which the feed found out that it is at the head.
      expect(reads).toBeLessThanOrEqual(1)
      await write(door, 'b')
      expect((await after).value).toMatchObject({ seq: 4 })
      await tail.return?.()
    })

    it('[DO2] a tail from beyond the head does not hold up the others', async () => {
      await door.run(ref, openTurn('t1'))
      const stop = new AbortController()
      const lost = collect(door.tail(ref, { after: 4, signal: stop.signal }), 1)
      const sound = collect(door.tail(ref, { after: 2 }), 3)
      for (let index = 0; index < 3; index += 1) await write(door, `${index}`)
      expect(await sound).toEqual([3, 4, 5])
      expect(await lost).toEqual([5])
      stop.abort()
    })

    it('many tails of one conversation share one reading of the log', async () => {
      await door.run(ref, openTurn('t1'))
      let reads = 0
      const eventsAfter = store.eventsAfter.bind(store)
      store.eventsAfter = (...args) => {
        reads += 1
        return eventsAfter(...args)
      }
      const stop = new AbortController()
      const tails = Array.from({ length: 50 }, () => door.tail(ref, { signal: stop.signal })[Symbol.asyncIterator]())
      await Promise.all(tails.map(tail => tail.next()))
      const waiting = tails.map(tail => tail.next())
      await write(door, 'settle')
      await Promise.all(waiting)
      reads = 0
      for (let index = 0; index < 10; index += 1) {
        const next = tails.map(tail => tail.next())
        await write(door, `${index}`)
        await Promise.all(next)
      }
      // One reading for each write and one that finds nothing more; not one for each tail.
      expect(reads).toBeLessThanOrEqual(10 * 4)
      stop.abort()
    })

    it('ends with its signal and with the door', async () => {
      const stop = new AbortController()
      const one = collect(door.tail(ref, { signal: stop.signal }), 1)
      stop.abort()
      expect(await one).toEqual([])
      const another = openDoor({ store: await place.open() })
      const two = collect(another.tail(ref), 1)
      const waiting = another.run(ref, openTurn('t1'))
      await another.close()
      expect((await waiting).events).toHaveLength(2)
      expect((await two).length).toBeLessThanOrEqual(2)
    })
  })

  describe('a review', () => {
    const opened = (reviewId: string, policy: PolicyPatch = {}): Promise<unknown> =>
      door.run(ref, startTurn('t1', policy), propose('t1', reviewId, 'a', 'b'))

    it('[RE1] is awaited across processes, and a confirm writes what was submitted', async () => {
      await opened('rev-1')
      const elsewhere = await anotherDoor()
      const waiting = [door.reviews.await('local', 'rev-1'), elsewhere.reviews.await('local', 'rev-1')]
      expect((await door.read(ref)).tasks.size).toBe(0)
      const decided = await elsewhere.reviews.decide(
        'local',
        'rev-1',
        { action: 'confirm', tasks: [{ draft_index: 1 }, { title: 'c' }], comment: 'go' },
        'library',
      )
      expect(decided.tasks.map(({ title, status, created_by }) => [title, status, created_by])).toEqual([
        ['b', 'in_progress', 'tool'],
        ['c', 'pending', 'user'],
      ])
      for (const record of await Promise.all(waiting)) {
        expect(record).toEqual(decided)
        expect(record).toMatchObject({
          review: { status: 'confirmed' },
          resolution: { action: 'confirm', comment: 'go', via: 'library', created_count: 2 },
        })
      }
      expect(await door.reviews.await('local', 'rev-1')).toEqual(decided)
    })

    it('[RE10] the same decision again answers the same; another one is refused', async () => {
      await opened('rev-1')
      const decision = { action: 'confirm', tasks: [{ title: 'x', priority: 'high' }] } as const
      const first = await door.reviews.decide('local', 'rev-1', decision, 'http')
      await door.run(ref, { type: 'edit_tasks', by: 'person', change: [{ task: 1, fields: { title: 'later' } }] })
      expect(
        await door.reviews.decide(
          'local',
          'rev-1',
          { tasks: [{ priority: 'high', title: 'x' }], action: 'confirm' },
          'http',
        ),
      ).toEqual(first)
      await expect(door.reviews.decide('local', 'rev-1', { action: 'cancel' }, 'http')).rejects.toMatchObject({
        code: 'review_already_decided',
      })
      await expect(door.reviews.decide('local', 'rev-2', { action: 'cancel' }, 'http')).rejects.toMatchObject({
        code: 'review_not_found',
      })
      expect((await door.read(ref)).tasks.size).toBe(1)
    })

    it('[RE10] of 100 racing decisions exactly one wins', async () => {
      await opened('rev-1')
      const elsewhere = await anotherDoor()
      const racing = Array.from({ length: 100 }, (_, index) => {
        const either = index % 2 ? door : elsewhere
        return either.reviews.decide(
          'local',
          'rev-1',
          { action: 'confirm', tasks: [{ title: `from ${index}` }] },
          'http',
        )
      })
      const outcomes = await Promise.allSettled(racing)
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const codes = outcomes.flatMap(outcome =>
        outcome.status === 'rejected' ? [(outcome.reason as { code: string }).code] : [],
      )
      expect(new Set(codes)).toEqual(new Set(['review_already_decided']))
      expect((await door.read(ref)).tasks.size).toBe(1)
    })

    it('stays pending after an invalid submission', async () => {
      await opened('rev-1')
      const bad = door.reviews.decide(
        'local',
        'rev-1',
        { action: 'confirm', tasks: [{ title: 'fine' }, { title: '' }] },
        'http',
      )
      await expect(bad).rejects.toMatchObject({ code: 'invalid_field', data: { row: 1, field: 'title' } })
      expect((await door.reviews.get('local', 'rev-1')).record.review.status).toBe('pending')
      await door.reviews.decide(
        'local',
        'rev-1',
        { action: 'confirm', tasks: [{ title: 'fine' }, { title: 'now too' }] },
        'http',
      )
    })

    it('[DO6] expires by itself at its deadline', async () => {
      await opened('rev-1', { review_timeout_ms: 150 })
      const record = await door.reviews.await('local', 'rev-1')
      expect(record).toMatchObject({
        review: { status: 'expired' },
        resolution: { action: 'cancel', reason: 'review_timeout', via: 'system' },
      })
      await expect(
        door.reviews.decide('local', 'rev-1', { action: 'confirm', tasks: [{ title: 'x' }] }, 'http'),
      ).rejects.toMatchObject({ code: 'review_expired' })
      expect((await door.read(ref)).tasks.size).toBe(0)
    })

    it('[DO6] is cancelled when the last panel left and none came back', async () => {
      await opened('rev-1', { panel_grace_ms: 100 })
      for (const panel of ['p1', 'p2']) await door.run(ref, { type: 'show_panel', review_id: 'rev-1', panel })
      for (const panel of ['p1', 'p2']) await door.run(ref, { type: 'leave_panel', review_id: 'rev-1', panel })
      expect(await door.reviews.await('local', 'rev-1')).toMatchObject({
        review: { status: 'cancelled' },
        resolution: { reason: 'panel_closed' },
      })
    })

    it('[DO6] expires also when the process that opened it is gone', async () => {
      if (kind === 'memory') return
      await opened('rev-1', { review_timeout_ms: 300 })
      const { expires_at } = (await door.reviews.get('local', 'rev-1')).record.review
      await door.close()
      door = openDoor({ store: await place.open() })
      const { review, resolution } = await door.reviews.await('local', 'rev-1')
      expect(review.expires_at).toBe(expires_at)
      expect(resolution).toMatchObject({ reason: 'review_timeout' })
    })

    it('[RE10] that is overdue reads as expired before the expiry is written', async () => {
      const store = await place.open()
      const quiet = openDoor({
        store: { ...bound(store), due: async () => ({ reviews: [] }) },
      })
      const asleep = { ...ref, conversation: 'asleep' }
      await door.close()
      await quiet.run(asleep, startTurn('t1', { review_timeout_ms: 1 }), propose('t1', 'rev-1', 'a'))
      const late = { ...asleep, conversation: 'other' }
      // Another commit, so that the clock has certainly moved on.
      await quiet.run(late, openTurn('t1'))
      await new Promise(resolve => setTimeout(resolve, 5))
      expect((await quiet.reviews.get('local', 'rev-1')).record).toMatchObject({
        review: { status: 'expired' },
        resolution: null,
      })
      await expect(
        quiet.reviews.decide('local', 'rev-1', { action: 'confirm', tasks: [{ title: 'x' }] }, 'http'),
      ).rejects.toMatchObject({ code: 'review_expired' })
      await quiet.close()
      door = openDoor({ store: await place.open() })
    })

    it('ten thousand waiting calls cost no timer and no read each', async () => {
      const count = kind === 'memory' ? 10_000 : 200
      const refs = Array.from({ length: count }, (_, index) => ({ ...ref, conversation: `c${index}` }))
      await Promise.all(refs.map((each, index) => door.run(each, startTurn('t1'), propose('t1', `rev-${index}`, 'a'))))
      const stop = new AbortController()
      const waiting = refs.map((_, index) => door.reviews.await('local', `rev-${index}`, stop.signal))
      const timers = (): number => process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length
      // Each read of PostgreSQL has one while it lasts.
      await expect.poll(timers).toBeLessThan(20)
      await door.run({ ...ref, conversation: 'c7' }, cancel('rev-7'))
      expect(await waiting[7]).toMatchObject({ resolution: { action: 'cancel' } })
      stop.abort(new Error('enough'))
      const outcomes = await Promise.allSettled(waiting)
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(count - 1)
    })
  })
})

describe('a door whose store fails now and then', () => {
  /** A store of which some members are replaced. */
  const partly = (store: Store, members: Partial<Store>): Store => ({ ...bound(store), ...members })

  it('a tail goes on when listening failed, and misses nothing', async () => {
    const store = openMemoryStore()
    let failures = 1
    const errors: unknown[] = []
    const door = openDoor({
      store: partly(store, {
        changes: signal => {
          if (failures > 0) {
            failures -= 1
            throw new Error('no ears')
          }
          return store.changes(signal)
        },
      }),
      onError: error => errors.push(error),
    })
    await door.run(ref, openTurn('t1'))
    const tail = door.tail(ref)[Symbol.asyncIterator]()
    expect((await tail.next()).value).toMatchObject({ seq: 2, events: [{ seq: 1 }, { seq: 2 }] })
    const next = tail.next()
    await store.commit(ref, () => ({ events: [note('unheard')], value: null }))
    expect((await next).value).toMatchObject({ seq: 3 })
    expect(errors).toMatchObject([{ message: 'no ears' }])
    await tail.return?.()
    await door.close()
  })

  it('a reading of the log that failed once leaves no gap', async () => {
    const store = openMemoryStore()
    let fails = false
    const errors: unknown[] = []
    const door = openDoor({
      store: partly(store, {
        eventsAfter: (...args) => {
          if (!fails) return store.eventsAfter(...args)
          fails = false
          return Promise.reject(new Error('no eyes'))
        },
      }),
      onError: error => errors.push(error),
    })
    await door.run(ref, openTurn('t1'))
    const tail = door.tail(ref)[Symbol.asyncIterator]()
    const seqs: number[] = []
    const read = async (until: number): Promise<void> => {
      while (seqs.length < until) seqs.push(...seqsOf((await tail.next()).value))
    }
    await read(2)
    const third = read(3)
    await store.commit(ref, () => ({ events: [note('a')], value: null }))
    await third
    fails = true
    const sixth = read(6)
    for (const text of ['b', 'c', 'd']) await store.commit(ref, () => ({ events: [note(text)], value: null }))
    await sixth
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6])
    expect(errors).toMatchObject([{ message: 'no eyes' }])
    await tail.return?.()
    await door.close()
  })

  it('[DO2] a tail whose read was overtaken by another does not wait for the next event', async () => {
    const store = openMemoryStore()
    await store.commit(ref, run(openTurn('t1')))
    const [reading, loading, hinting] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    let reads = 0
    const door = openDoor({
      store: partly(store, {
        // The second follower's reading is slow, so is the first one's look at the head, and hints come last of all.
        eventsAfter: async (...args) => {
          const events = await store.eventsAfter(...args)
          reads += 1
          if (reads === 2) await reading?.promise
          return events
        },
        load: async each => {
          await loading?.promise
          return store.load(each)
        },
        changes: async function* (signal) {
          for await (const hint of store.changes(signal)) {
            await hinting?.promise
            yield hint
          }
        },
      }),
    })
    const tails = [0, 1].map(() => door.tail(ref, { after: 2 })[Symbol.asyncIterator]())
    const heard = tails.map(tail => tail.next())
    await new Promise(resolve => setImmediate(resolve))
    await store.commit(ref, () => ({ events: [note('a')], value: null }))
    for (const gate of [loading, reading, hinting]) {
      gate?.resolve()
      await new Promise(resolve => setImmediate(resolve))
    }
    for (const next of heard) expect((await next).value).toMatchObject({ seq: 3 })
    for (const tail of tails) await tail.return?.()
    await door.close()
  })

  it('[DO6] reviews that cannot be expired now do not hold up the others', async () => {
    const store = openMemoryStore()
    const broken = new Set<string>()
    const errors: unknown[] = []
    const door = openDoor({
      store: partly(store, {
        commit: (at, decide) =>
          broken.has(at.conversation) ? Promise.reject(new Error('broken file')) : store.commit(at, decide),
      }),
      onError: error => errors.push(error),
    })
    const conversations = [...Array.from({ length: 150 }, (_, index) => `broken-${index}`), 'sound']
    for (const conversation of conversations) {
      const isSound = conversation === 'sound'
      const timeout = { review_timeout_ms: isSound ? 200 : 150 }
      await door.run({ ...ref, conversation }, startTurn('t1', timeout), propose('t1', `rev-${conversation}`, 'a'))
      if (!isSound) broken.add(conversation)
    }
    expect(await door.reviews.await('local', 'rev-sound')).toMatchObject({ resolution: { reason: 'review_timeout' } })
    expect(errors.length).toBeGreaterThanOrEqual(150)
    await door.close()
  })
})

it('the same content has the same hash, whatever the order of its keys', () => {
  expect(hashOf({ a: 1, b: [{ c: 2, d: undefined }] })).toBe(hashOf({ b: [{ c: 2 }], a: 1 }))
  expect(hashOf({ a: 1 })).not.toBe(hashOf({ a: '1' }))
  expect(hashOf([['a', 1]])).not.toBe(hashOf({ a: 1 }))
})

const seqsOf = (commit: Commit | void): number[] => commit?.events.map(({ seq }) => seq) ?? []

/** A store's members as a plain object, so that a test can put another in their place. */
function bound<T extends object>(store: T): T {
  return new Proxy(store, {
    get: (target, key) => {
      const member = Reflect.get(target, key) as unknown
      return typeof member === 'function' ? member.bind(target) : member
    },
    ownKeys: () => [
      'commit',
      'now',
      'load',
      'eventsAfter',
      'changes',
      'claim',
      'renew',
      'release',
      'due',
      'queries',
      'templates',
      'live',
      'close',
    ],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  })
}
