import { expect, it, onTestFinished } from 'vitest'
import {
  describePostgres,
  lineTo,
  ownDatabase,
  ownStore,
  sql,
  terminate,
} from '../../../test/support/postgres-store.ts'
import { nextHint, note } from '../../../test/store/contract.ts'
import type { Hint, Ref, Store } from '../store.ts'
import { SCHEMA } from './schema.ts'

/** Between two polls. */
const LISTENING = `application_name = 'runsheet-listen' AND query LIKE '%xmin%' AND state = 'idle'`

describePostgres('postgres: hints', () => {
  it('[ST8] come after the listening connection was terminated, for commits meanwhile and afterwards', async () => {
    const url = await ownDatabase()
    const [reader, writer] = [await ownStore({ url }), await ownStore({ url })]
    const hints = listening(reader)
    for (const conversation of ['a', 'b', 'c']) {
      await expect.poll(() => connected(url)).toBe(1)
      expect(await terminate(url, LISTENING)).toBe(1)
      await write(writer, { tenant: 'acme', conversation })
      expect(await nextHint(hints, { tenant: 'acme', conversation })).toMatchObject({ seq: 1 })
    }
    await expect.poll(() => connected(url)).toBe(1)
    await write(writer, { tenant: 'acme', conversation: 'd' })
    await nextHint(hints, { tenant: 'acme', conversation: 'd' })
  })

  it('[ST8] come without NOTIFY, as behind a pooler: by polling', async () => {
    const url = await ownDatabase()
    const hints = listening(await ownStore({ url }))
    await expect.poll(() => connected(url)).toBe(1)
    await sql(url, `INSERT INTO ${SCHEMA}.conversations (tenant, conversation, seq) VALUES ('acme', 'quiet', 7)`)
    expect(await nextHint(hints, { tenant: 'acme', conversation: 'quiet' })).toMatchObject({ kind: 'log', seq: 7 })
    await sql(url, `INSERT INTO ${SCHEMA}.live (tenant, conversation, entry) VALUES ('acme', 'quiet', '{}')`)
    expect(await nextHint(hints, { tenant: 'acme', conversation: 'quiet' })).toMatchObject({ kind: 'text' })
  })

  it('[ST8] come for hundreds of conversations at once, also if a name is too long for NOTIFY', async () => {
    const url = await ownDatabase()
    const [reader, writer] = [await ownStore({ url }), await ownStore({ url })]
    const hints = listening(reader)
    await expect.poll(() => connected(url)).toBe(1)
    const long = { tenant: '\u0001'.repeat(1_500), conversation: 'long' }
    const refs = Array.from({ length: 300 }, (_, n) => ({ tenant: 'acme', conversation: `${'c'.repeat(120)}${n}` }))
    await Promise.all([long, ...refs].map(at => write(writer, at)))
    const missing = new Set([long, ...refs].map(({ conversation }) => conversation))
    while (missing.size > 0) {
      const { value } = await hints.next()
      if (value) missing.delete(value.conversation)
    }
  })

  it('ignore foreign messages on the channel', async () => {
    const url = await ownDatabase()
    const [reader, writer] = [await ownStore({ url }), await ownStore({ url })]
    const hints = listening(reader)
    await expect.poll(() => connected(url)).toBe(1)
    for (const payload of ['', 'hello', '{}', '["x"]', '{"hint":1}', 'null'])
      await sql(url, `NOTIFY runsheet, '${payload}'`)
    await write(writer, { tenant: 'acme', conversation: 'a' })
    expect(await nextHint(hints, { tenant: 'acme', conversation: 'a' })).toEqual({
      tenant: 'acme',
      conversation: 'a',
      kind: 'log',
      seq: 1,
    })
  })

  it('take a connection only while there are listeners', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    expect(await connected(url)).toBe(0)
    const [first, second] = [new AbortController(), new AbortController()]
    store.changes(first.signal)
    store.changes(second.signal)
    await expect.poll(() => connected(url)).toBe(1)
    first.abort()
    expect(await connected(url)).toBe(1)
    second.abort()
    await expect.poll(() => connected(url)).toBe(0)
    const third = listening(store)
    await write(store, { tenant: 'acme', conversation: 'a' })
    await nextHint(third, { tenant: 'acme', conversation: 'a' })
  })
})

describePostgres('postgres: hints without a database', () => {
  it('close does not wait for it to come back', async () => {
    const line = await lineTo(await ownDatabase())
    const store = await ownStore({ url: line.url })
    const hints = listening(store)
    await write(store, { tenant: 'acme', conversation: 'a' })
    await nextHint(hints, { tenant: 'acme', conversation: 'a' })
    line.cut()
    await store.close()
  }, 5_000)
})

function listening(store: Store): AsyncIterator<Hint> {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  return store.changes(stop.signal)[Symbol.asyncIterator]()
}

const write = (store: Store, at: Ref): Promise<unknown> =>
  store.commit(at, () => ({ events: [note('a')], value: null }))

const connected = async (url: string): Promise<number> =>
  (await sql(url, `SELECT FROM pg_stat_activity WHERE datname = current_database() AND ${LISTENING}`)).length
