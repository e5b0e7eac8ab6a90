import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { afterEach, describe, expect, inject, it } from 'vitest'
import type { Command } from '../src/core/model/command.ts'
import type { Json } from '../src/core/model/event.ts'
import type { SearchResult } from '../src/core/views/wire.ts'
import { add, openTurn, rename, run, settle, startTurn, testId } from './store/contract.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { StoreError } from '../src/store/store-error.ts'
import type { Found, FullStore, Page, Ref } from '../src/store/store.ts'
import { inLongRun, runWriter } from './support/children.ts'
import { scratchFolder } from './support/scratch.ts'
import { type FullKind, type Place, placeFor } from './support/stores.ts'
import { SCHEMA } from '../src/store/postgres/schema.ts'

const url = inject('postgresUrl')
const ALL: readonly FullKind[] = ['sqlite', 'json', 'postgres']
const KINDS = ALL.filter(kind => kind !== 'postgres' || url !== '')

const cleanups: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function placeOf(kind: FullKind): Promise<Place<FullStore>> {
  const place = await placeFor(kind, url)
  cleanups.push(place.remove)
  return place
}

async function opened(place: Place<FullStore>): Promise<FullStore> {
  const store = await place.open()
  cleanups.push(() => store.close())
  return store
}

const at = (conversation: string, tenant = 'local'): Ref => ({ tenant, conversation })

const found = async (store: FullStore, text: string, tenant = 'local'): Promise<readonly SearchResult[]> =>
  (await store.search.all(tenant, text, { limit: 50 })).results

const titles = async (store: FullStore, text: string): Promise<string[]> =>
  (await found(store, text)).map(result =>
    (result.kind === 'message' ? result.excerpt : result.title).map(part => part.text).join(''),
  )

/** What a write was refused with, else `ok`. A store that is busy is asked again. */
async function outcomeOf(write: () => Promise<unknown>): Promise<string> {
  for (;;) {
    try {
      await write()
      return 'ok'
    } catch (error) {
      if (!(error instanceof StoreError)) return String(error)
      if (error.code !== 'busy') throw error
    }
  }
}

/** Until what is written next is newer in every store: their clocks may differ by a fraction of a millisecond. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Math.abs(Date.now() - now) < 3) await setImmediate()
}

describe('generated conversations', () => {
  const WORDS = [
    'birthday|Party|budget|budgets|the|report|Report|invite|cake|zebra|a|task-7',
    'Größe|ÄNDERN|Straße|café|Café|naïve|Łódź|Ålesund|ﬁnal|don’t|День|рождения|हिन्दी|كِتَاب|שָׁלוֹם',
    '准备生日派对的预算|生日|预算|派对邀请|誕生日パーティー|パーティー|ガキ|ｶﾞｷ|の予算|𠮷野家',
    '생일파티를|준비|파티|วันเกิด|งานเลี้ยง|ວັນເກີດ|🎂|🎉🎉|👨‍👩‍👧|🇩🇪',
    `%|'|"x"|\\|<b>bold</b>|1=1|${'x'.repeat(80)}`,
  ].flatMap(words => words.split('|'))
  const QUERIES = [
    ...WORDS,
    '生|日|パ|파|ว|b|bud|PARTY|strass|grosse and|cafe|lodz|fin',
    `the report|report the|budget bu|生日 预|誕生日 の予|birthday 🎂|nowhere|* OR *|${'x'.repeat(60)}`,
  ].flatMap(words => words.split('|'))

  /** The same numbers in every run. */
  function dice(seed: number): (below: number) => number {
    let state = seed
    return below => {
      state = (state * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff
      return (state >> 8) % below
    }
  }

  function generated(count: number): readonly { readonly ref: Ref; readonly commands: readonly Command[] }[] {
    const draw = dice(15)
    const text = (most: number): string =>
      Array.from({ length: 1 + draw(most) }, () => WORDS[draw(WORDS.length)]).join(draw(4) === 0 ? '' : ' ')
    const sizes = new Map<string, number>()
    return Array.from({ length: count }, (_, step) => {
      const name = `c${draw(8)}`
      const ref = at(name, draw(6) === 0 ? 'other' : 'local')
      const key = `${ref.tenant}/${name}`
      const size = sizes.get(key)
      if (size === undefined) {
        sizes.set(key, 0)
        const first = draw(3) === 0 ? openTurn('t') : startTurn('t', { toolset: 'task_list', assessor: false }, text(6))
        return { ref, commands: [first] }
      }
      const task = 1 + draw(Math.max(1, size))
      const made = Array.from({ length: 1 + draw(3) }, () => ({ id: testId(), title: text(5), details: text(8) }))
      const create: Command = { type: 'edit_tasks', by: 'person', create: made }
      const message = {
        message_id: `m${draw(count)}`,
        role: draw(3) === 0 ? 'user' : 'assistant',
        text: text(20),
      } as const
      const record: Command = { type: 'record', turn_id: 't', fact: { type: 'message_added', data: message } }
      const synthetic = { message_id: `s${step}`, role: 'user', text: text(9), synthetic: true } as const
      const choices: readonly Command[] = [
        create,
        record,
        { type: 'record', turn_id: 't', fact: { type: 'message_added', data: synthetic } },
        { type: 'edit_tasks', by: 'person', change: [{ task, fields: { title: text(4), outcome: text(4) } }] },
        { type: 'edit_tasks', by: 'person', change: [{ task, fields: { priority: 'high' } }] },
        { type: 'edit_tasks', by: 'person', remove: [{ task }] },
      ]
      const command = size === 0 ? create : (choices[draw(choices.length)] ?? create)
      if (command === create) sizes.set(key, size + made.length)
      return { ref, commands: [command] }
    })
  }

  const undated = (result: SearchResult): Json =>
    JSON.parse(JSON.stringify({ ...result, created_at: undefined })) as Json

  /** All pages of a list, by id. */
  async function pages<T>(list: (page: Page) => Promise<Found<T>>, id: (item: T) => string): Promise<string[][]> {
    const read: string[][] = []
    for (let cursor: string | undefined; ; ) {
      const page = await list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) })
      read.push(page.items.map(id))
      if (page.next_cursor === null) return read
      cursor = page.next_cursor
    }
  }

  it('are searched with the same results in the same order in every store', async () => {
    const steps = generated(inLongRun(2_000, 100))
    const answers = await Promise.all(
      KINDS.map(async kind => {
        const store = await opened(await placeOf(kind))
        // A step on a removed task is refused, in every store alike.
        const outcomes: string[] = []
        for (const { ref, commands } of steps) {
          await nextMillisecond()
          outcomes.push(await outcomeOf(() => store.commit(ref, run(...commands))))
        }
        const search = async (tenant: string, query: string): Promise<Json> => ({
          all: (await found(store, query, tenant)).map(undated),
          tasks: await pages(
            page => store.search.tasks(tenant, query, page),
            task => task.id,
          ),
          conversations: await pages(
            page => store.search.conversations(tenant, query, page),
            session => session.session_id,
          ),
        })
        const results: Json[] = []
        for (const query of QUERIES) {
          for (const tenant of ['local', 'other', 'nobody']) {
            results.push({ query, tenant, ...((await search(tenant, query)) as object) })
          }
        }
        return { kind, outcomes, results }
      }),
    )
    const [first, ...others] = answers
    expect(first?.outcomes.filter(outcome => outcome === 'ok').length).toBeGreaterThan(steps.length / 2)
    const hits = first?.results.filter(each => JSON.stringify(each).includes('"match"')).length ?? 0
    expect(hits).toBeGreaterThan(QUERIES.length)
    for (const { outcomes, results } of others) {
      expect(outcomes).toEqual(first?.outcomes)
      expect(results).toEqual(first?.results)
    }
  })
})

describe.each(KINDS)('a search on %s', kind => {
  it('finds titles, tasks and messages, in that order', async () => {
    const store = await opened(await placeOf(kind))
    await store.commit(at('c1'), run(startTurn('t1', {}, 'Plan a birthday')))
    await store.commit(at('c1'), run(record('t1', 'm2', 'The birthday is on Friday: birthday cake.')))
    await store.commit(at('c2'), run(openTurn('t1'), add('t1', 'Bake', 'Buy birthday candles')))
    const results = await found(store, 'birthd')
    expect(results.map(({ kind, session_id }) => [kind, session_id])).toEqual([
      ['conversation', 'c1'],
      ['task', 'c2'],
      ['message', 'c1'],
      ['message', 'c1'],
    ])
    expect(results[1]).toMatchObject({
      session_title: 'Bake',
      number: 2,
      status: 'pending',
      title: [{ text: 'Buy ' }, { text: 'birthd', match: true }, { text: 'ay candles' }],
      excerpt: [],
    })
    expect(results[2]).toMatchObject({ message_id: 'm2', turn_id: 't1', role: 'assistant' })
    const { results: tasks } = await store.search.all('local', 'birthday', { limit: 50, kind: 'task' })
    expect(tasks.map(({ kind }) => kind)).toEqual(['task'])
    expect((await store.search.all('local', 'birthday', { limit: 2 })).results).toHaveLength(2)
  })

  it('no longer finds what was removed or reworded', async () => {
    const store = await opened(await placeOf(kind))
    await store.commit(at('c'), run(openTurn('t1'), add('t1', 'Bake', 'Buy candles', 'Buy matches')))
    expect(await titles(store, 'buy')).toEqual(['Buy matches', 'Buy candles'])
    await store.commit(at('c'), run({ type: 'edit_tasks', by: 'person', remove: [{ task: 3 }] }))
    expect(await titles(store, 'buy')).toEqual(['Buy candles'])
    await store.commit(at('c'), run(rename('t1', 2, 'Borrow candles')))
    expect(await titles(store, 'buy')).toEqual([])
    expect(await titles(store, 'borrow')).toEqual(['Borrow candles'])
    await store.commit(at('c'), run(settle('t1', 2)))
    const [task] = await found(store, 'borrow')
    expect(task).toMatchObject({ status: 'completed' })
  })

  it('ranks the newest hundred matches of a kind', async () => {
    const store = await opened(await placeOf(kind))
    await store.commit(at('c'), run(openTurn('t1'), add('t1', 'needle needle needle')))
    for (let round = 0; round < 5; round += 1) {
      const batch = Array.from({ length: 20 }, (_, index) => `needle ${round * 20 + index}`)
      await store.commit(at('c'), run(add('t1', ...(round === 4 ? batch.slice(1) : batch))))
    }
    const tasks = async (): Promise<number[]> =>
      (await store.search.all('local', 'needle', { limit: 2, kind: 'task' })).results.map(result =>
        result.kind === 'task' ? result.number : 0,
      )
    expect(await tasks()).toEqual([1, 100])
    await store.commit(at('c'), run(add('t1', 'one more needle')))
    expect(await tasks()).toEqual([101, 100])
  })

  it('tenants do not find each other', async () => {
    const store = await opened(await placeOf(kind))
    await store.commit(at('c', 'acme'), run(startTurn('t1', {}, 'a secret'), record('t1', 'm', 'a secret')))
    expect(await found(store, 'secret', 'other')).toEqual([])
    await store.commit(at('c', 'other'), run(startTurn('t1', {}, 'no secrets')))
    expect((await found(store, 'secret', 'other')).map(({ session_title }) => session_title)).toEqual([
      'no secrets',
      'no secrets',
    ])
  })
})

describe.each(KINDS)('many matches on %s', kind => {
  /** The tasks that a search finds, page by page, by the number in their title. */
  async function numbers(store: FullStore, query: string): Promise<number[]> {
    const read: number[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await store.search.tasks('local', query, { limit: 70, ...(cursor === undefined ? {} : { cursor }) })
      read.push(...page.items.map(({ title }) => Number(/\d+/.exec(title)?.[0])))
      if (page.next_cursor === null) return read
      cursor = page.next_cursor
    }
  }

  async function filled(store: FullStore): Promise<void> {
    for (let commit = 0; commit < 60; commit += 1) {
      const titles = Array.from({ length: 10 }, (_, index) => `needle item${1_000 + commit * 10 + index}`)
      const rare = commit % 20 === 0 ? ['needle in haystack 1'] : []
      const first = commit < 3 ? [openTurn('t1')] : []
      await nextMillisecond()
      await store.commit(at(`c${commit % 3}`), run(...first, add('t1', ...titles, ...rare)))
    }
  }

  const newestFirst = Array.from({ length: 600 }, (_, index) => 1_599 - index)

  it('are found newest first, by a common word, a rare one and many beginnings', async () => {
    const store = await opened(await placeOf(kind))
    await filled(store)
    for (const query of ['item', 'it', 'needle i', 'needle item']) {
      expect((await numbers(store, query)).filter(number => number > 1)).toEqual(newestFirst)
    }
    expect(await numbers(store, 'item12')).toEqual(newestFirst.filter(number => Math.floor(number / 100) === 12))
    expect(await numbers(store, 'needle hay')).toEqual([1, 1, 1])
    expect(await numbers(store, 'haystack item')).toEqual([])
  })

  it('keep their places when they are reworded', async () => {
    const store = await opened(await placeOf(kind))
    await filled(store)
    await store.commit(at('c0'), run(rename('t1', 2, 'reworded item 1001')))
    expect((await numbers(store, 'it')).filter(number => number > 1)).toEqual(newestFirst)
    expect(await numbers(store, 'reworded')).toEqual([1_001])
    expect(await numbers(store, 'needle it')).not.toContain(1_001)
  })

  it('[SE7] are found in the same order in an index that was made from the log', async () => {
    const place = await placeOf(kind)
    const before = await place.open()
    await filled(before)
    await before.close()
    await forgetIndexVersion(kind, place)
    const after = await opened(place)
    expect((await numbers(after, 'it')).filter(number => number > 1)).toEqual(newestFirst)
    await after.commit(at('c0'), run(add('t1', 'item 1600')))
    expect((await numbers(after, 'it')).filter(number => number > 1)).toEqual([1_600, ...newestFirst])
  })
})

describe.each(KINDS)('the index on %s', kind => {
  it('[SE7] a search has what any process wrote before it', async () => {
    const place = await placeOf(kind)
    const [store, another] = [await opened(place), await opened(place)]
    for (let round = 0; round < 20; round += 1) {
      const [writer, reader] = round % 2 === 0 ? [store, another] : [another, store]
      await writer.commit(at('c'), run(...(round === 0 ? [openTurn('t1')] : []), add('t1', `unique${round} word`)))
      expect(await reader.search.all('local', `unique${round}`, { limit: 50, kind: 'task' })).toMatchObject({
        results: [{ number: round + 1 }],
        indexing: false,
      })
    }
  })

  it('[SE7] two searches at once both have what was written before them', async () => {
    const store = await opened(await placeOf(kind))
    await store.commit(at('c'), run(openTurn('t1')))
    for (let round = 0; round < 10; round += 1) {
      const first = titles(store, `number${round}`)
      await store.commit(at('c'), run(add('t1', `number${round}`)))
      const [, ...both] = await Promise.all([first, titles(store, `number${round}`), titles(store, `number${round}`)])
      for (const each of both) expect(each.at(-1)).toBe(`number${round}`)
    }
  })

  it('[SE7] is made from the log where there is that of another version', async () => {
    const place = await placeOf(kind)
    const before = await place.open()
    for (let index = 0; index < 30; index += 1) {
      await before.commit(at(`c${index}`), run(startTurn('t1', { review: false }, `needle ${index}`)))
      await before.commit(at(`c${index}`), run(add('t1', `needle ${index}`, `needle, removed ${index}`)))
      await before.commit(at(`c${index}`), run({ type: 'edit_tasks', by: 'person', remove: [{ task: 2 }] }))
    }
    const results = JSON.stringify(await found(before, 'needle'))
    await before.close()
    await forgetIndexVersion(kind, place)
    const after = await opened(place)
    expect(JSON.stringify(await found(after, 'needle'))).toBe(results)
    expect(await found(after, 'removed')).toEqual([])
  })
})

describe('the index', () => {
  let folder = ''
  const path = (): string => join(folder, 'runsheet.db')
  function inFolder(): void {
    folder = scratchFolder()
    cleanups.push(() => rmSync(folder, { recursive: true }))
  }

  it('a commit does not wait for it', async () => {
    inFolder()
    const store = await openSqliteStore({ path: path() })
    await store.commit(at('c'), run(openTurn('t1'), add('t1', 'a needle')))
    const { indexed } = stateOf(path())
    expect(indexed).toBe(0)
    expect(await titles(store, 'needle')).toEqual(['a needle', 'a needle'])
    expect(stateOf(path()).indexed).toBe(3)
    await store.close()
  })

  it('is caught up in the background', async () => {
    inFolder()
    const store = await openSqliteStore({ path: path() })
    cleanups.push(() => store.close())
    await store.commit(at('c'), run(openTurn('t1'), add('t1', 'a needle')))
    await expect.poll(() => stateOf(path()).indexed).toBe(3)
  })

  it('a process that is killed leaves nothing out and nothing double', async () => {
    inFolder()
    for (let round = 0; round < inLongRun(20, 2); round += 1) {
      const from = round * 1_000
      const order = { store: 'sqlite', at: path(), conversation: `c${round}`, tasks: true } as const
      const child = runWriter({ ...order, from, to: from + 1_000, abreast: 4 })
      await child.line(line => line.startsWith(`ack ${from + 100}`))
      child.process.kill('SIGKILL')
      await child.ended
      const store = await openSqliteStore({ path: path() })
      const { tasks } = await store.load(at(`c${round}`))
      for (const { title, id } of [...tasks.values()].slice(-30)) {
        const { items } = await store.search.tasks('local', title, { limit: 50 })
        expect(items.filter(task => task.id === id)).toHaveLength(1)
      }
      await store.close()
      const { documents, live } = stateOf(path())
      expect(documents).toBe(live)
    }
  })

  it('[SE7] says that it is behind, and answers with what it has', async () => {
    inFolder()
    const store = await openSqliteStore({ path: path() })
    cleanups.push(() => store.close())
    const message = 'word '.repeat(1_000)
    for (let index = 0; index < 20; index += 1) {
      await store.commit(at(`c${index}`), run(startTurn('t1', {}, `needle ${index} ${message}`)))
    }
    expect(await store.search.all('local', 'needle', { limit: 1 })).toMatchObject({ indexing: false })
    const holder = new DatabaseSync(path())
    holder.exec('BEGIN IMMEDIATE; UPDATE search_state SET indexed = indexed - 1')
    holder.exec('COMMIT; BEGIN IMMEDIATE')
    const answer = await store.search.all('local', 'needle', { limit: 1 })
    expect(answer).toMatchObject({ indexing: true, results: [{ kind: 'conversation' }] })
    expect(await store.search.tasks('local', 'needle', { limit: 1 })).toMatchObject({ indexing: true })
    holder.exec('ROLLBACK')
    holder.close()
    expect(await store.search.all('local', 'needle', { limit: 1 })).toMatchObject({ indexing: false })
  })
})

const record = (turn_id: string, message_id: string, text: string): Command => ({
  type: 'record',
  turn_id,
  fact: { type: 'message_added', data: { message_id, role: 'assistant', text } },
})

function stateOf(path: string): { indexed: number; documents: number; live: number } {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db
      .prepare(
        `SELECT indexed, (SELECT count(*) FROM search_documents WHERE kind = 1) AS documents,
           (SELECT count(*) FROM tasks WHERE removed = 0) AS live FROM search_state`,
      )
      .get() as { indexed: number; documents: number; live: number }
  } finally {
    db.close()
  }
}

async function forgetIndexVersion(kind: FullKind, { address }: Place): Promise<void> {
  if (kind !== 'postgres') {
    const db = new DatabaseSync(address)
    db.exec('UPDATE search_state SET version = 0')
    db.close()
    return
  }
  const client = new Client({ connectionString: address })
  await client.connect()
  await client.query(`UPDATE ${SCHEMA}.search_state SET version = 0`)
  await client.end()
}
