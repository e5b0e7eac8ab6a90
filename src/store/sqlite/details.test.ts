import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { SNAPSHOT_VERSION, freeze } from '../../core/model/snapshot.ts'
import { commitOf, type Ref } from '../store.ts'
import { add, note, openTurn, rename, run } from '../../../test/store/contract.ts'
import { openMemoryStore } from '../memory.ts'
import { HeadFile, digestOf, readHead } from './head-file.ts'
import { openSqliteStore, type SqliteStore } from './store.ts'

const ref: Ref = { tenant: 'local', conversation: 'chat' }

let folder: string
let path: string
beforeEach(() => {
  folder = scratchFolder()
  path = join(folder, 'runsheet.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Reads or tampers with the file behind the store's back. */
function raw<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

describe('snapshots', () => {
  async function longLog(): Promise<string> {
    const store = await openSqliteStore({ path })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    for (let index = 0; index < 250; index += 1) await store.commit(ref, run(rename('t1', 1, `title ${index}`)))
    const state = freeze(await store.load(ref))
    await store.close()
    return state
  }
  const coldLoad = async (): Promise<string> => {
    const store = await openSqliteStore({ path })
    const state = freeze(await store.load(ref))
    await store.close()
    return state
  }

  it('are written every 200 events, and a cold load starts from the newest', async () => {
    const state = await longLog()
    expect(raw(db => db.prepare('SELECT seq, v FROM snapshots').all())).toMatchObject([
      { seq: 200, v: SNAPSHOT_VERSION },
    ])
    expect(await coldLoad()).toBe(state)
    raw(db => {
      const text = String(db.prepare('SELECT state FROM snapshots').get()?.['state'])
      const other = text.replace('"last_number":1', '"last_number":77')
      const link = String(db.prepare('SELECT chain FROM events WHERE seq = 200').get()?.['chain'])
      db.prepare('UPDATE snapshots SET state = ?, sum = ?').run(other, digestOf(link + other))
    })
    expect(await coldLoad()).toBe(state.replace('"last_number":1', '"last_number":77'))
  })

  it('that were changed are ignored: the log is folded', async () => {
    const state = await longLog()
    raw(db => db.exec(`UPDATE snapshots SET state = replace(state, '"last_number":1', '"last_number":77')`))
    expect(await coldLoad()).toBe(state)
  })

  it('of another version are ignored: the log is folded', async () => {
    const state = await longLog()
    raw(db => db.exec(`UPDATE snapshots SET v = 0, state = 'not even JSON'`))
    expect(await coldLoad()).toBe(state)
  })

  it('are written less often for a long list', async () => {
    const store = await openSqliteStore({ path })
    await store.commit(ref, run(openTurn('t1')))
    for (let index = 0; index < 20; index += 1)
      await store.commit(ref, run(add('t1', ...Array.from({ length: 20 }, (_, i) => `${i}`))))
    for (let index = 0; index < 150; index += 1) await store.commit(ref, run(rename('t1', 1, `title ${index}`)))
    await store.close()
    // The first came with 200 tasks; with 400 the next is due 400 events later, beyond the end of the log.
    expect(raw(db => db.prepare('SELECT seq FROM snapshots').all())).toMatchObject([{ seq: 202 }])
  })
})

describe('a group', () => {
  it('fails only the call that cannot be written', async () => {
    const store = await openSqliteStore({
      path,
      onWrite: (_, { conversation }) => {
        if (conversation === 'bad') throw new Error('cannot be written')
      },
    })
    const calls = ['a', 'bad', 'b', 'bad', 'c'].map(conversation =>
      store.commit({ tenant: 'local', conversation }, () => ({ events: [note(conversation)], value: conversation })),
    )
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect((await store.load({ tenant: 'local', conversation: 'bad' })).seq).toBe(0)
    expect((await store.load({ tenant: 'local', conversation: 'c' })).seq).toBe(1)
    await store.close()
  })
})

describe('the head file', () => {
  it('[SQ15] names the newest event, after the commit and before the answer', async () => {
    const seen: unknown[] = []
    const store = await openSqliteStore({ path, onFaultPoint: point => seen.push([point, readHead(path)?.id ?? 0]) })
    for (const _ of [1, 2]) await store.commit(ref, () => ({ events: [note('a'), note('b')], value: null }))
    expect(seen.filter(each => /committed|noted/.test(String(each)))).toEqual([
      ['committed', 0],
      ['noted', 2],
      ['committed', 2],
      ['noted', 4],
    ])
    await store.close()
  })

  it('[SQ15] never names what was rolled back, and names what was imported', async () => {
    const memory = openMemoryStore()
    await memory.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
    const events = await memory.eventsAfter(ref, 0, 100)
    const store = await openSqliteStore({
      path,
      onWrite: (_, { conversation }) => {
        if (conversation === 'bad') throw new Error('cannot be written')
      },
    })
    await store.importLog(ref, [commitOf(events)])
    const bad = store.commit({ ...ref, conversation: 'bad' }, () => ({ events: [note('a'), note('b')], value: null }))
    await expect(bad).rejects.toThrow('cannot be written')
    await store.commit(ref, () => ({ value: null, discard: true }))
    await store.commit({ ...ref, once: { key: 'k', bodyHash: 'h' } }, () => ({ events: [], value: null }))
    await store.claim('r', 1_000, { abilities: ['drive'] })
    expect(readHead(path)?.id).toBe(events.length)
    await store.close()
  })

  it('[SQ15] keeps the newest note of several processes, and is not trusted where it is damaged', () => {
    const [one, two] = [new HeadFile(path), new HeadFile(path)]
    const noted = { id: 12, link: 'x'.repeat(22) }
    two.note(noted)
    one.note({ id: 10, link: 'y'.repeat(22) })
    expect(readHead(path)).toEqual(noted)
    writeFileSync(`${path}-head`, readFileSync(`${path}-head`, 'latin1').replace('12', '13'))
    expect(readHead(path)).toBeUndefined()
    for (const head of [one, two]) head.close()
  })
})

describe('an event that does not fit its chain', () => {
  const damage = (): void =>
    raw(db => db.exec(`UPDATE events SET data = replace(data, 'needle one', 'needle two') WHERE seq = 3`))
  const find = async (store: SqliteStore, text: string): Promise<string[]> =>
    (await store.search.tasks('local', text, { limit: 50 })).items.map(({ title }) => title)

  it('[SQ16] is not returned by a search, which is refused; others go on', async () => {
    const store = await openSqliteStore({ path })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'needle one', 'straw')))
    expect(await find(store, 'needle')).toEqual(['needle one'])
    damage()
    await expect(find(store, 'needle')).rejects.toMatchObject({
      code: 'corrupt',
      detail: expect.stringMatching(/event 3/),
    })
    expect(await find(store, 'straw')).toEqual(['straw'])
    await store.close()
  })

  it('[SQ16] is left out of the search index, which goes on with the next one', async () => {
    const store = await openSqliteStore({ path })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'needle one', 'straw')))
    damage()
    expect(await find(store, 'needle')).toEqual([])
    expect(await find(store, 'straw')).toEqual(['straw'])
    await store.close()
  })
})

it('[SQ1] a change of one task writes few pages', async () => {
  const store = await openSqliteStore({ path })
  await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c')))
  const pages = (): number => Math.floor((statSync(`${path}-wal`).size - 32) / (24 + 4_096))
  const before = pages()
  for (let index = 0; index < 100; index += 1) await store.commit(ref, run(rename('t1', 1, `title ${index}`)))
  // The event, its index entry and the task's row; sometimes a new page.
  expect((pages() - before) / 100).toBeLessThan(4)
  await store.close()
})
