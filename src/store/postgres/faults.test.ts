import { describe, expect, it, vi } from 'vitest'
import { acknowledged, inLongRun, runWriter } from '../../../test/support/children.ts'
import { fault, held } from '../../../test/support/faults.ts'
import {
  describePostgres,
  lineTo,
  ownDatabase,
  ownStore,
  sql,
  terminate,
} from '../../../test/support/postgres-store.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { note } from '../../../test/store/contract.ts'
import type { Store } from '../store.ts'
import type { PostgresFaultPoint } from './commits.ts'
import { SCHEMA } from './schema.ts'

const ref = { tenant: 'acme', conversation: 'chat-1' }
const once = { key: 'k', bodyHash: 'h' }
const KEYED = { ...ref, once }
const IN_TRANSACTION = `state LIKE 'idle in transaction%'`

describePostgres.concurrent('postgres: a connection that is lost', () => {
  fault('a connection to PostgreSQL that is lost')
  describe.for(inLongRun(['begun', 'staged', 'written'] as const, ['written'] as const))('at %s', point => {
    it('is retried: nothing had been written', async () => {
      const { store, killed } = await killedAt(point)
      const committed = await store.commit(ref, state => ({ events: [note('a')], value: state.seq }))
      expect(committed).toMatchObject({ value: 1, replayed: false, events: [{ seq: 2 }] })
      expect(killed()).toBeGreaterThan(0)
      expect(await texts(store)).toEqual(['before', 'a'])
    })
  })

  it('during COMMIT: with a key it is retried and written once', async () => {
    const { store, killed } = await killedAt('committing')
    expect(await store.commit(KEYED, () => ({ events: [note('a')], value: 1 }))).toMatchObject({ value: 1 })
    expect(killed()).toBeGreaterThan(0)
    expect(await texts(store)).toEqual(['before', 'a'])
    expect(await store.commit(KEYED, () => ({ events: [note('b')], value: 2 }))).toMatchObject({
      value: 1,
      replayed: true,
    })
  })

  it('during COMMIT: without a key the outcome is reported as unknown', async () => {
    const { store, killed } = await killedAt('committing')
    const lost = store.commit(ref, () => ({ events: [note('a')], value: 1 }))
    await expect(lost).rejects.toMatchObject({ name: 'StoreError', code: 'unknown_outcome' })
    expect(killed()).toBeGreaterThan(0)
    await store.commit(ref, () => ({ events: [note('b')], value: 1 }))
    expect(await texts(store)).toEqual(['before', 'b'])
  })

  it('during COMMIT: of a group, the calls without a key get no answer', async () => {
    const { store } = await killedAt('committing')
    const [keyed, plain, refused, idle] = await Promise.allSettled([
      store.commit(KEYED, () => ({ events: [note('keyed')], value: 'keyed' })),
      store.commit(ref, () => ({ events: [note('plain')], value: 'plain' })),
      store.commit(ref, () => {
        throw new Refusal('no_turn', {})
      }),
      store.commit(ref, state => ({ events: [], value: state.seq })),
    ])
    expect(keyed).toMatchObject({ status: 'fulfilled', value: { value: 'keyed' } })
    expect(plain).toMatchObject({ status: 'rejected', reason: { code: 'unknown_outcome' } })
    for (const call of [refused, idle]) expect(call).toMatchObject({ reason: { code: 'unknown_outcome' } })
    expect(await texts(store)).toEqual(['before', 'keyed'])
  })

  it('after COMMIT: the call is answered, and was written once', async () => {
    const { store, killed } = await killedAt('committed', 'TRUE')
    expect(await store.commit(ref, () => ({ events: [note('a')], value: 1 }))).toMatchObject({ value: 1 })
    expect(killed()).toBeGreaterThan(0)
    expect(await texts(store)).toEqual(['before', 'a'])
  })

  it('with the answer to COMMIT: the key shows that it was written', async () => {
    const { store, afterwards } = await answerLost()
    let runs = 0
    const committed = await store.commit(KEYED, () => ({ events: [note('a')], value: (runs += 1) }))
    expect(committed).toMatchObject({ value: 1, replayed: true, conversation: { seq: 1 } })
    expect(runs).toBe(1)
    expect(await texts(afterwards)).toEqual(['a'])
  })

  it('with the answer to COMMIT: without a key the outcome is unknown, though it was written', async () => {
    const { store, afterwards } = await answerLost()
    const lost = store.commit(ref, () => ({ events: [note('a')], value: 1 }))
    await expect(lost).rejects.toMatchObject({ code: 'unknown_outcome' })
    expect(await texts(afterwards)).toEqual(['a'])
    await store.commit(ref, () => ({ events: [note('b')], value: 1 }))
    expect(await texts(afterwards)).toEqual(['a', 'b'])
  })

  it('for good: calls that wrote nothing get io, calls in COMMIT get unknown_outcome', async () => {
    const url = await ownDatabase()
    const [before, during] = [await lineTo(url), await lineTo(url)]
    const untouched = await ownStore({ url: before.url })
    const committing = await ownStore({
      url: during.url,
      onFaultPoint: point => {
        if (point === 'committing') during.cut()
      },
    })
    await untouched.load(ref)
    before.cut()
    const outcomes = await Promise.allSettled([
      untouched.commit(KEYED, () => ({ events: [note('a')], value: 1 })),
      untouched.load(ref),
      committing.commit(KEYED, () => ({ events: [note('b')], value: 1 })),
    ])
    expect(outcomes.map(outcome => outcome.status === 'rejected' && outcome.reason.code)).toEqual([
      'io',
      'io',
      'unknown_outcome',
    ])
    expect(await texts(await ownStore({ url }))).toEqual([])
  })

  it('and the next one as it begins: the process survives, and goes on over a third', async () => {
    const url = await ownDatabase()
    const line = await lineTo(url)
    const at = { store: 'postgres', at: line.url, conversation: 'chat-1', from: 0, to: 500 } as const
    const child = runWriter(at)
    await child.line(said => said.startsWith('ack 5 '))
    line.endNextStart()
    await terminate(url, `application_name = 'runsheet'`)
    expect(await child.ended).toMatchObject({ code: 0, stderr: '' })
    expect(acknowledged(child).size).toBe(500)
  })

  it('[FA1] repeatedly: nothing acknowledged is lost, nothing is doubled, seq has no gap', async () => {
    const url = await ownDatabase()
    const stores = [await ownStore({ url }), await ownStore({ url })]
    const calm = new AbortController()
    const storm = async (): Promise<void> => {
      let ended = 0
      while (ended < inLongRun(400, 15)) {
        ended += await terminate(url, `application_name = 'runsheet' AND random() < 0.5`)
      }
      held(ended)
      calm.abort()
    }
    const writer = async (_: unknown, index: number): Promise<string[]> => {
      const written: string[] = []
      while (!calm.signal.aborted) {
        const text = `${index}-${written.length}`
        const at = { ...ref, once: { key: text, bodyHash: 'h' } }
        await stores[index % 2]?.commit(at, () => ({ events: [note(text)], value: null }))
        written.push(text)
      }
      return written
    }
    const [, ...written] = await Promise.all([storm(), ...Array.from({ length: 8 }, writer)])
    const events = (await stores[0]?.eventsAfter(ref, 0, 1_000_000)) ?? []
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.map(({ data }) => ('text' in data ? data.text : '')).sort()).toEqual(written.flat().sort())
    held(0, { 'acknowledged writes, none lost': events.length })
  })
})

describePostgres.concurrent('postgres: a database in trouble', () => {
  fault('PostgreSQL that is full, read-only, locked or stalled')
  it('a full disk refuses with full, leaves nothing half-written, and works again with room', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    await failOn(url, 'keys', 'TRUE', '53100')
    const full = store.commit(KEYED, () => ({ events: [note('a')], value: 1 }))
    await expect(full).rejects.toMatchObject({ name: 'StoreError', code: 'full' })
    expect(await texts(store)).toEqual([])
    await sql(url, 'DROP FUNCTION fail_keys CASCADE')
    expect(await store.commit(KEYED, () => ({ events: [note('a')], value: 2 }))).toMatchObject({
      replayed: false,
      value: 2,
    })
  })

  it('a call that cannot be written fails alone; concurrent calls are written', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    await failOn(url, 'events', `NEW.data LIKE '%poison%'`, '22000')
    const calls = ['a', 'poison', 'b'].map(text => store.commit(ref, () => ({ events: [note(text)], value: text })))
    const settled = await Promise.allSettled(calls)
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await texts(store)).toEqual(['a', 'b'])
  })

  it('a read-only database refuses with readonly', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    await store.commit(ref, () => ({ events: [note('a')], value: 1 }))
    await sql(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`)
    await terminate(url, `application_name = 'runsheet'`)
    const refused = store.commit(ref, () => ({ events: [note('b')], value: 1 }))
    await expect(refused).rejects.toMatchObject({ name: 'StoreError', code: 'readonly' })
    expect(await texts(store)).toEqual(['a'])
  })

  it('a conversation that is locked elsewhere is busy in time', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    await store.commit(ref, () => ({ events: [note('a')], value: 1 }))
    const holding = sql(url, `BEGIN; SELECT FROM ${SCHEMA}.conversations FOR UPDATE; SELECT pg_sleep(30)`).catch(
      () => [],
    )
    const sleeping = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
    // `expect.poll` does not work in concurrent tests.
    await vi.waitFor(async () => expect(await sql(url, sleeping)).toHaveLength(1), { timeout: 20_000 })
    const refused = store.commit(ref, () => ({ events: [note('b')], value: 1 }))
    await expect(refused).rejects.toMatchObject({ name: 'StoreError', code: 'busy' })
    await terminate(url, `wait_event = 'PgSleep'`)
    await holding
  })

  it('a read or a look that waits for a table that others have locked is busy', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url, timeoutMs: 3_600 })
    await store.load(ref)
    const tables = ['conversations', 'events', 'reviews', 'tasks'].map(table => `${SCHEMA}.${table}`).join(', ')
    const holding = sql(url, `BEGIN; LOCK TABLE ${tables}; SELECT pg_sleep(30)`).catch(() => [])
    const sleeping = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
    await vi.waitFor(async () => expect(await sql(url, sleeping)).toHaveLength(1), { timeout: 20_000 })
    const reads = [
      store.load(ref),
      store.eventsAfter(ref, 0, 10),
      store.queries.conversations('acme', { limit: 10 }),
      store.due(1),
    ]
    for (const outcome of await Promise.allSettled(reads)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StoreError', code: 'busy' } })
    }
    await terminate(url, `wait_event = 'PgSleep'`)
    await holding
    expect((await store.load(ref)).seq).toBe(0)
  })

  it('calls that wait for connections, which wait for locks, are busy: the database can be reached', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url, timeoutMs: 3_600, poolSize: 3 })
    await store.load(ref)
    const tables = ['conversations', 'events', 'reviews', 'tasks', 'turns']
      .map(table => `${SCHEMA}.${table}`)
      .join(', ')
    const holding = sql(url, `BEGIN; LOCK TABLE ${tables}; SELECT pg_sleep(30)`).catch(() => [])
    const sleeping = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
    await vi.waitFor(async () => expect(await sql(url, sleeping)).toHaveLength(1), { timeout: 20_000 })
    const calls = Array.from({ length: 8 }, (_, n) => [
      store.commit({ ...ref, conversation: `chat-${n}` }, () => ({ events: [note('a')], value: 1 })),
      store.load({ ...ref, conversation: `chat-${n}` }),
      store.due(1),
    ]).flat()
    const outcomes = (await Promise.allSettled(calls)) as PromiseRejectedResult[]
    expect(new Set(outcomes.map(({ reason }) => reason?.code))).toEqual(new Set(['busy']))
    await terminate(url, `wait_event = 'PgSleep'`)
    await holding
  })

  it('[FA2] a node that stalls within a transaction is disconnected, and loses nothing when it resumes', async () => {
    const url = await ownDatabase()
    const frozen = Promise.withResolvers<void>()
    let freezes = true
    const asleep = await ownStore({
      url,
      onFaultPoint: async point => {
        if (point !== 'staged' || !freezes) return
        freezes = false
        frozen.resolve()
        await awake.promise
      },
    })
    const awake = Promise.withResolvers<void>()
    const other = await ownStore({ url })
    const late = asleep.commit(ref, () => ({ events: [note('late')], value: 1 }))
    await frozen.promise
    await other.commit(ref, () => ({ events: [note('first')], value: 1 }))
    awake.resolve()
    expect((await late).events).toMatchObject([{ seq: 2 }])
    expect(await texts(other)).toEqual(['first', 'late'])
  })
})

// Not beside others: it holds the event loop.
describePostgres('postgres: a process that was frozen right before COMMIT', () => {
  fault('PostgreSQL that is full, read-only, locked or stalled')
  it('is told that its transaction was ended, and writes it again, also without a key', async () => {
    let freezes = false
    const store = await ownStore({
      url: await ownDatabase(),
      onFaultPoint: point => {
        if (point !== 'committing' || !freezes) return
        freezes = false
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
      },
    })
    await store.commit(ref, () => ({ events: [note('before')], value: 0 }))
    freezes = true
    expect(await store.commit(ref, () => ({ events: [note('a')], value: 1 }))).toMatchObject({ value: 1 })
    expect(await texts(store)).toEqual(['before', 'a'])
  })
})

/** A store whose connection is terminated once, at one point of its second commit. */
async function killedAt(fault: PostgresFaultPoint, which = IN_TRANSACTION) {
  const url = await ownDatabase()
  let armed = false
  let killed = 0
  const store = await ownStore({
    url,
    onFaultPoint: async point => {
      if (!armed || point !== fault) return
      armed = false
      killed += await terminate(url, which)
    },
  })
  await store.commit(ref, () => ({ events: [note('before')], value: 0 }))
  armed = true
  return { store, killed: () => killed }
}

/** A store that loses the answer to its first COMMIT, and another one with its own connection. */
async function answerLost() {
  const url = await ownDatabase()
  const line = await lineTo(url)
  let armed = true
  const store = await ownStore({
    url: line.url,
    onFaultPoint: point => {
      if (point === 'committing' && armed) line.loseNextAnswer()
      if (point === 'committing') armed = false
    },
  })
  return { store, afterwards: await ownStore({ url }) }
}

/** Makes the database reject rows of a table. */
async function failOn(url: string, table: string, when: string, state: string): Promise<void> {
  await sql(
    url,
    `CREATE FUNCTION fail_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN IF ${when} THEN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END IF; RETURN NEW; END $$;
     CREATE TRIGGER fail BEFORE INSERT ON ${SCHEMA}.${table} FOR EACH ROW EXECUTE FUNCTION fail_${table}()`,
  )
}

/** The log as texts, with its seqs checked. */
async function texts(store: Store): Promise<string[]> {
  const events = await store.eventsAfter(ref, 0, 1_000)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  return events.map(({ data }) => ('text' in data ? data.text : ''))
}
