import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it, vi } from 'vitest'
import { freshDatabase } from '../../../test/support/postgres.ts'
import { describePostgres, ownDatabase, ownStore, postgresUrl, sql } from '../../../test/support/postgres-store.ts'
import { subjectOn } from '../../../test/support/store-subject.ts'
import { note, openTurn, run, startTurn, storeContract, add } from '../contract.ts'
import type { Lease } from '../store.ts'
import { openPostgresStore } from './store.ts'

const ref = { tenant: 'acme', conversation: 'chat-1' }

describePostgres('postgres', () => {
  storeContract('postgres', async () => {
    const { url, drop } = await freshDatabase(postgresUrl)
    return subjectOn(skewMs => openPostgresStore({ url, skewMs }), drop)
  })

  it('[PG1] twenty stores that open an empty database at once create it once, and all work', async () => {
    const url = await ownDatabase()
    const stores = await Promise.all(Array.from({ length: 20 }, () => ownStore({ url, poolSize: 1 })))
    await Promise.all(stores.map((store, index) => store.commit(ref, () => ({ events: [note(`${index}`)], value: 0 }))))
    expect(await sql(url, 'SELECT number FROM runsheet.runsheet_migrations')).toEqual([
      { number: 1 },
      { number: 2 },
      { number: 3 },
      { number: 4 },
    ])
    expect(await stores[0]?.load(ref)).toMatchObject({ seq: 20 })
  })

  it('[PG2] a database of a newer version is refused and left untouched', async () => {
    const url = await ownDatabase()
    await (await openPostgresStore({ url })).close()
    await sql(url, 'INSERT INTO runsheet.runsheet_migrations (number) VALUES (99)')
    await expect(openPostgresStore({ url })).rejects.toMatchObject({ name: 'StoreError', code: 'newer' })
    expect(await sql(url, 'SELECT max(number) FROM runsheet.runsheet_migrations')).toEqual([{ max: 99 }])
  })

  it('[PG6] runs as a user without CREATE rights once the tables exist', async () => {
    const url = await ownDatabase()
    const plain = Object.assign(new URL(url), { username: `plain_${process.pid}` })
    await sql(url, `CREATE ROLE plain_${process.pid} LOGIN`)
    await expect(openPostgresStore({ url: plain.href })).rejects.toMatchObject({ code: 'readonly' })
    await (await openPostgresStore({ url })).close()
    await sql(
      url,
      `GRANT USAGE ON SCHEMA runsheet TO plain_${process.pid};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA runsheet TO plain_${process.pid}`,
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

  it('[EV5][PG7] now is the time of the database, not of the machine', async () => {
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

  it('[ST10] a turn cannot be claimed between the check of the lease and the commit', async () => {
    const url = await ownDatabase()
    let skew = 0
    const elsewhere = await ownStore({ url, skewMs: () => skew })
    const during: Promise<Lease | undefined>[] = []
    const store = await ownStore({
      url,
      onFaultPoint: async point => {
        if (point !== 'written' || skew === 0) return
        // A claim of any turn skips this one; a claim of this turn waits.
        expect(await elsewhere.claim('r2', 1_000)).toBeUndefined()
        during.push(elsewhere.claim('r2', 1_000, { ...ref, turn: 't1' }))
      },
    })
    await store.commit(ref, run(startTurn('t1')))
    const lease = await store.claim('r1', 1_000)
    skew = 1_001
    const committed = await store.commit({ ...ref, lease }, () => ({ events: [note('late')], value: null }))
    expect(await Promise.all(during)).toEqual([{ ...ref, turn: 't1', attempt: 2 }])
    expect(await elsewhere.load(ref)).toMatchObject({ seq: committed.conversation.seq })
  })

  it('[ST3][FA2] eight writers on two stores and four conversations lose nothing', async () => {
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

  it('[ST23] a title is found among thousands, page by page', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    await sql(
      url,
      `INSERT INTO runsheet.conversations (tenant, conversation, title, seq, created_at, updated_at)
       SELECT 'acme', 'c' || n, CASE WHEN n % 1000 = 7 THEN 'ÜBER ' || n ELSE 'other' END, 1,
         '2026-01-01T00:00:' || lpad(n::text, 6, '0'), '2026' FROM generate_series(1, 3000) AS n`,
    )
    const first = await store.queries.conversations('acme', { limit: 2 }, 'über')
    expect(first.items.map(({ session_id }) => session_id)).toEqual(['c2007', 'c1007'])
    const rest = await store.queries.conversations('acme', { limit: 2, cursor: first.next_cursor ?? '' }, 'über')
    expect(rest).toMatchObject({ items: [{ session_id: 'c7' }], next_cursor: null })
    expect((await store.queries.conversations('acme', { limit: 2 }, 'nowhere')).items).toEqual([])
  })

  it('[PG9] a log that could not be folded to its end is folded on from where that stopped', async () => {
    const url = await ownDatabase()
    const [store, reader] = [await ownStore({ url }), await ownStore({ url })]
    await store.commit(ref, () => ({ events: [note('a')], value: 0 }))
    const copies = `SELECT tenant, conversation, n, v, type, turn_id, timestamp, task, data FROM runsheet.events`
    await sql(url, `INSERT INTO runsheet.events ${copies}, generate_series(2, 6000) AS n WHERE seq = 1`)
    await sql(url, 'UPDATE runsheet.conversations SET seq = 6000')
    await sql(url, `UPDATE runsheet.events SET data = 'lost' WHERE seq = 5500`)
    await expect(reader.load(ref)).rejects.toThrow(SyntaxError)
    await sql(url, `UPDATE runsheet.events SET data = 'lost' WHERE seq = 100`)
    await sql(
      url,
      `UPDATE runsheet.events SET data = (SELECT data FROM runsheet.events WHERE seq = 1) WHERE seq = 5500`,
    )
    expect(await reader.load(ref)).toMatchObject({ seq: 6000 })
  })

  it('finds nothing for names and searches with a NUL or a lone surrogate', async () => {
    const store = await ownStore({ url: await ownDatabase() })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    expect(await store.queries.review('acme', 'rev\u0000')).toBeUndefined()
    expect((await store.queries.search('acme', 'a\u0000', { limit: 1 })).items).toEqual([])
    const entry = { turn_id: 't1', message_id: 'm', text: 'half a pair \ud83d' }
    await store.live.write(ref, entry)
    expect(await store.live.read(ref)).toEqual(entry)
    const once = { key: 'k\u0000\ud800', bodyHash: 'h' }
    const calls = [1, 2].map(value => store.commit({ ...ref, once }, () => ({ events: [note('x')], value })))
    expect((await Promise.all(calls)).map(({ value }) => value)).toEqual([1, 1])
    expect(await store.commit({ ...ref, once }, () => ({ events: [], value: 3 }))).toMatchObject({ replayed: true })
  })

  it('[ST21] nothing keeps the process alive after close', async () => {
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
