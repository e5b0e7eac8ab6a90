import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { freshDatabase } from '../../../test/support/postgres.ts'
import { describePostgres, ownDatabase, ownStore, postgresUrl, sql } from '../../../test/support/postgres-store.ts'
import { subjectOn } from '../../../test/support/store-subject.ts'
import { checkIn } from '../../core/model/needs.ts'
import { add, fullContract, note, openTurn, run, startTurn } from '../../../test/store/contract.ts'
import { leaseContract, type LeaseSubject } from '../../../test/store/lease-contract.ts'
import type { FullStore, Lease, Store } from '../store.ts'
import { openPostgresStore } from './store.ts'
import { SCHEMA } from './schema.ts'

const ref = { tenant: 'acme', conversation: 'chat-1' }

describePostgres('postgres', () => {
  const subject = async (): Promise<LeaseSubject<FullStore>> => {
    const { url, drop } = await freshDatabase(postgresUrl)
    const opened = await subjectOn(skewMs => openPostgresStore({ url, skewMs }), drop)
    const need: LeaseSubject['need'] = async ({ conversation }, needs) => {
      const value = needs === null ? 'NULL' : `'${needs}'`
      await sql(url, `UPDATE ${SCHEMA}.turns SET needs = ${value} WHERE conversation = '${conversation}'`)
    }
    return { ...opened, need }
  }
  fullContract('postgres', subject)
  leaseContract('postgres', subject)

  it('[PG1] twenty stores that open an empty database at once create it once, and all work', async () => {
    const url = await ownDatabase()
    const stores = await Promise.all(Array.from({ length: 20 }, () => ownStore({ url, poolSize: 1 })))
    await Promise.all(stores.map((store, index) => store.commit(ref, () => ({ events: [note(`${index}`)], value: 0 }))))
    expect(await sql(url, `SELECT version FROM ${SCHEMA}.format`)).toEqual([{ version: 2 }])
    expect(await stores[0]?.load(ref)).toMatchObject({ seq: 20 })
  })

  it('a database of a newer version is refused and left untouched', async () => {
    const url = await ownDatabase()
    await (await openPostgresStore({ url })).close()
    await sql(url, `UPDATE ${SCHEMA}.format SET version = 99`)
    await expect(openPostgresStore({ url })).rejects.toMatchObject({ name: 'StoreError', code: 'newer' })
    await expect(openPostgresStore({ url, creates: false })).rejects.toMatchObject({ code: 'newer' })
    expect(await sql(url, `SELECT version FROM ${SCHEMA}.format`)).toEqual([{ version: 99 }])
  })

  it('runs as a user without CREATE rights once the tables exist', async () => {
    const url = await ownDatabase()
    const plain = Object.assign(new URL(url), { username: `plain_${process.pid}` })
    await sql(url, `CREATE ROLE plain_${process.pid} LOGIN`)
    await expect(openPostgresStore({ url: plain.href })).rejects.toMatchObject({ code: 'readonly' })
    await (await openPostgresStore({ url })).close()
    await sql(
      url,
      `GRANT USAGE ON SCHEMA ${SCHEMA} TO plain_${process.pid};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${SCHEMA} TO plain_${process.pid}`,
    )
    const store = await ownStore({ url: plain.href })
    expect(await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))).toMatchObject({ conversation: { seq: 3 } })
    await store.close()
    await sql(url, `DROP OWNED BY plain_${process.pid}; DROP ROLE plain_${process.pid}`)
  })

  it('reports an unreachable database without its address or password', async () => {
    const failing = openPostgresStore({ url: 'postgres://app:sesame@127.0.0.1:1/nowhere' })
    await expect(failing).rejects.toMatchObject({ name: 'StoreError', code: 'io' })
    await expect(failing).rejects.not.toThrow(/sesame|127\.0\.0\.1|nowhere/)
  })

  it('[EV5] now is the time of the database, not of the machine', async () => {
    const store = await ownStore({ url: await ownDatabase() })
    const before = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2001-01-01') })
    try {
      const { value } = await store.commit(ref, (_, now) => ({ events: [note('a')], value: now }))
      expect(Date.parse(value)).toBeGreaterThanOrEqual(before - 1)
      expect(value).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    } finally {
      vi.useRealTimers()
    }
  })

  it('[ST9] a turn cannot be claimed between the check of the lease and the commit', async () => {
    const url = await ownDatabase()
    let skew = 0
    const elsewhere = await ownStore({ url, skewMs: () => skew })
    const during: Promise<Lease | undefined>[] = []
    const store = await ownStore({
      url,
      onFaultPoint: async point => {
        if (point !== 'written' || skew === 0) return
        // A claim of any turn skips this one; a claim of this turn waits.
        expect(await elsewhere.claim('r2', 1_000, { abilities: ['drive'] })).toBeUndefined()
        during.push(elsewhere.claim('r2', 1_000, { abilities: ['drive'], wanted: { ...ref, turn: 't1' } }))
      },
    })
    await store.commit(ref, run(startTurn('t1')))
    const lease = await store.claim('r1', 1_000, { abilities: ['drive'] })
    skew = 1_001
    const committed = await store.commit({ ...ref, lease }, () => ({ events: [note('late')], value: null }))
    expect(await Promise.all(during)).toEqual([{ ...ref, turn: 't1', attempt: 2 }])
    expect(await elsewhere.load(ref)).toMatchObject({ seq: committed.conversation.seq })
  })

  describe('claims for checks in one workspace', () => {
    const abilities = [checkIn('m1:/work')]
    const [a, b] = [
      { ...ref, turn: 't1' },
      { ...ref, conversation: 'chat-2', turn: 't1' },
    ]

    async function needing(url: string, store: Store): Promise<void> {
      for (const at of [a, b]) await store.commit(at, run(startTurn('t1')))
      await sql(url, `UPDATE ${SCHEMA}.turns SET needs = '${abilities[0]}'`)
    }

    it('do not overlap, however long one takes', async () => {
      const url = await ownDatabase()
      const stores = [await ownStore({ url }), await ownStore({ url })] as const
      await needing(url, stores[0])
      await sql(
        url,
        `CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END';
         CREATE TRIGGER linger BEFORE UPDATE ON ${SCHEMA}.turns FOR EACH ROW EXECUTE FUNCTION linger()`,
      )
      const claims = [a, b].flatMap(wanted => stores.map(store => store.claim('r', 60_000, { abilities, wanted })))
      expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1)
    })

    it('do not overtake a late holder while it writes: it is fenced off before, or it goes on', async () => {
      const url = await ownDatabase()
      let skew = 0
      const elsewhere = await ownStore({ url, skewMs: () => skew })
      const during: (Lease | undefined)[] = []
      const store = await ownStore({
        url,
        onFaultPoint: async point => {
          if (point === 'written' && skew > 0) during.push(await elsewhere.claim('r2', 1_000, { abilities, wanted: b }))
        },
      })
      await needing(url, store)
      const lease = await store.claim('r1', 1_000, { abilities, wanted: a })
      skew = 1_001
      await store.commit({ ...a, lease }, () => ({ events: [note('late')], value: null }))
      expect(during).toEqual([undefined])
      skew = 0
      expect(await elsewhere.claim('r2', 1_000, { abilities })).toBeUndefined()
      skew = 1_001
      expect(await elsewhere.claim('r2', 1_000, { abilities, wanted: b })).toMatchObject(b)
      const stale = store.commit({ ...a, lease }, () => ({ events: [note('stale')], value: null }))
      await expect(stale).rejects.toMatchObject({ code: 'fenced' })
    })
  })

  it('[ST1][FA2] eight writers on two stores and four conversations lose nothing', async () => {
    const url = await ownDatabase()
    const stores = [await ownStore({ url }), await ownStore({ url })]
    const conversations = ['a', 'b', 'c', 'd'].map(conversation => ({ tenant: 'acme', conversation }))
    const acknowledged = new Map(conversations.map(({ conversation }) => [conversation, new Set<string>()]))
    const writer = async (_: unknown, index: number): Promise<void> => {
      for (let round = 0; round < 50; round += 1) {
        const at = conversations[(index + round) % conversations.length] ?? ref
        const text = `${index}-${round}`
        await stores[index % 2]?.commit(at, () => ({ events: [note(text)], value: null }))
        acknowledged.get(at.conversation)?.add(text)
      }
    }
    await Promise.all(Array.from({ length: 8 }, writer))
    for (const at of conversations) {
      const events = (await stores[0]?.eventsAfter(at, 0, 1_000)) ?? []
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      expect(new Set(events.map(({ data }) => ('text' in data ? data.text : '')))).toEqual(
        acknowledged.get(at.conversation),
      )
    }
  })

  it('a key without events does not list the conversation', async () => {
    const store = await ownStore({ url: await ownDatabase() })
    await store.commit({ ...ref, once: { key: 'k', bodyHash: 'h' } }, () => ({ events: [], value: 1 }))
    expect((await store.queries.conversations('acme', { limit: 10 })).items).toEqual([])
  })

  it('[PG9] a log that could not be folded to its end is folded on from where that stopped', async () => {
    const url = await ownDatabase()
    const [store, reader] = [await ownStore({ url }), await ownStore({ url })]
    await store.commit(ref, () => ({ events: [note('a')], value: 0 }))
    const copies = `SELECT tenant, conversation, n, v, type, turn_id, timestamp, task, data FROM ${SCHEMA}.events`
    await sql(url, `INSERT INTO ${SCHEMA}.events ${copies}, generate_series(2, 6000) AS n WHERE seq = 1`)
    await sql(url, `UPDATE ${SCHEMA}.conversations SET seq = 6000`)
    await sql(url, `UPDATE ${SCHEMA}.events SET data = 'lost' WHERE seq = 5500`)
    await expect(reader.load(ref)).rejects.toThrow(SyntaxError)
    await sql(url, `UPDATE ${SCHEMA}.events SET data = 'lost' WHERE seq = 100`)
    await sql(
      url,
      `UPDATE ${SCHEMA}.events SET data = (SELECT data FROM ${SCHEMA}.events WHERE seq = 1) WHERE seq = 5500`,
    )
    expect(await reader.load(ref)).toMatchObject({ seq: 6000 })
  })

  it('finds nothing for names and searches with a NUL or a lone surrogate', async () => {
    const store = await ownStore({ url: await ownDatabase() })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    expect(await store.queries.review('acme', 'rev\u0000')).toBeUndefined()
    expect((await store.search.tasks('acme', 'b\u0000', { limit: 1 })).items).toEqual([])
    const entry = { turn_id: 't1', message_id: 'm', text: 'half a pair \ud83d' }
    await store.live.write(ref, entry)
    expect(await store.live.read(ref)).toEqual(entry)
    const once = { key: 'k\u0000\ud800', bodyHash: 'h' }
    const calls = [1, 2].map(value => store.commit({ ...ref, once }, () => ({ events: [note('x')], value })))
    expect((await Promise.all(calls)).map(({ value }) => value)).toEqual([1, 1])
    expect(await store.commit({ ...ref, once }, () => ({ events: [], value: 3 }))).toMatchObject({ replayed: true })
  })

  it('nothing keeps the process alive after close', async () => {
    const script = `
      const { openPostgresStore } = await import(${JSON.stringify(new URL('store.ts', import.meta.url).href)})
      const store = await openPostgresStore({ url: ${JSON.stringify(await ownDatabase())} })
      const hints = store.changes(new AbortController().signal)[Symbol.asyncIterator]()
      const event = { type: 'message_added', turn_id: 't', data: { message_id: 'm', role: 'assistant', text: 'a' } }
      await store.commit({ tenant: 'acme', conversation: 'c' }, () => ({ events: [event], value: null }))
      await hints.next()
      const began = performance.now()
      process.on('exit', () => console.log(Math.round(performance.now() - began)))
      await store.close()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
    expect(Number(stdout)).toBeLessThan(1_000)
  })
})
