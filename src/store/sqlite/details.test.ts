import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { takeChecksumsAway } from '../../../test/support/former-format.ts'
import { expectClaimedAsBefore, formerTurns } from '../../../test/support/former-turns.ts'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { emptyConversation } from '../../domain/conversation.ts'
import { freeze, SNAPSHOT_VERSION } from '../../domain/snapshot.ts'
import { Checksums } from '../checksum.ts'
import { commitOf } from '../commit.ts'
import { add, differencesIn, markedConversations, note, openTurn, rename, run } from '../contract.ts'
import { openMemoryStore } from '../memory.ts'
import { rowsOf } from '../rows.ts'
import type { Ref } from '../store.ts'
import { first } from './migrations/001-first.ts'
import { readHead } from './head-file.ts'
import { fewerPages } from './migrations/002-fewer-pages.ts'
import { pendingReviews } from './migrations/003-pending-reviews.ts'
import { reviewsByDeadline } from './migrations/004-reviews-by-deadline.ts'
import { search } from './migrations/005-search.ts'
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

  it('[SQ10] are written every 200 events, and a cold load starts from the newest', async () => {
    const state = await longLog()
    expect(raw(db => db.prepare('SELECT seq, v FROM snapshots').all())).toMatchObject([
      { seq: 200, v: SNAPSHOT_VERSION },
    ])
    expect(await coldLoad()).toBe(state)
    // Without its head file, the database is not compared as a whole.
    rmSync(`${path}-head`)
    raw(db => {
      const { id = '' } = db.prepare('SELECT id FROM identity').get() ?? {}
      const text = String(db.prepare('SELECT state FROM snapshots').get()?.['state'])
      const other = text.replace('"last_number":1', '"last_number":77')
      const sum = new Checksums(String(id)).of('snapshot', 'local', 'chat', 200, SNAPSHOT_VERSION, other)
      db.prepare('UPDATE snapshots SET state = ?, sum = ?').run(other, sum)
    })
    expect(await coldLoad()).toBe(state.replace('"last_number":1', '"last_number":77'))
  })

  it('[SQ10] that do not have their checksum are ignored: the log is folded', async () => {
    const state = await longLog()
    rmSync(`${path}-head`)
    raw(db => db.exec(`UPDATE snapshots SET state = replace(state, '"last_number":1', '"last_number":77')`))
    expect(await coldLoad()).toBe(state)
  })

  it('[SQ10] of another version are ignored: the log is folded', async () => {
    const state = await longLog()
    raw(db => db.exec(`UPDATE snapshots SET v = 0, state = 'not even JSON'`))
    expect(await coldLoad()).toBe(state)
  })

  it('[SQ10] are written less often for a long list', async () => {
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
  it('[ST2] fails only the call that cannot be written', async () => {
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
  it('[SQ15] says what is committed, after the commit and before the answer', async () => {
    const seen: unknown[] = []
    const store = await openSqliteStore({
      path,
      onFaultPoint: point => seen.push([point, readHead(path)?.written.events ?? 0]),
    })
    for (const _ of [1, 2]) await store.commit(ref, () => ({ events: [note('a'), note('b')], value: null }))
    expect(seen.filter(each => /committed|noted/.test(String(each)))).toEqual([
      ['committed', 0],
      ['noted', 2],
      ['committed', 2],
      ['noted', 4],
    ])
    await store.close()
  })

  it('[SQ15] never counts what was rolled back', async () => {
    const store = await openSqliteStore({
      path,
      onWrite: (_, { conversation }) => {
        if (conversation === 'bad') throw new Error('cannot be written')
      },
    })
    await store.commit(ref, () => ({ events: [note('a')], value: null }))
    const bad = store.commit({ ...ref, conversation: 'bad' }, () => ({ events: [note('a'), note('b')], value: null }))
    await expect(bad).rejects.toThrow('cannot be written')
    await store.commit(ref, () => ({ value: null, discard: true }))
    await store.commit({ ...ref, once: { key: 'k', bodyHash: 'h' } }, () => ({ events: [], value: null }))
    await store.claim('r', 1_000, { abilities: ['drive'] })
    expect(readHead(path)?.written).toEqual({ events: 1, templates: 0 })
    await store.close()
  })
})

it('[SQ15] the head file counts what is imported', async () => {
  const memory = openMemoryStore()
  await memory.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
  const events = await memory.eventsAfter(ref, 0, 100)
  const store = await openSqliteStore({ path })
  await store.importLog(ref, [commitOf(events)])
  expect(readHead(path)?.written.events).toBe(events.length)
  await store.close()
})

describe('an event that does not have its checksum', () => {
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

it('[SQ3] opens a database of an older format by running the missing migrations', async () => {
  // An empty database with our application id stands for a format before the first migration.
  raw(db => db.exec('PRAGMA application_id = 1381322323; PRAGMA journal_mode = WAL; VACUUM'))
  const store = await openSqliteStore({ path })
  await store.commit(ref, run(openTurn('t1')))
  expect((await store.load(ref)).seq).toBe(2)
  await store.close()
})

it('[SQ3] a database of format 1 keeps its logs, lists, search and snapshots', async () => {
  const logs = await Promise.all(
    ['chat', 'other'].map(async conversation => {
      const memory = openMemoryStore()
      const at = { tenant: 'local', conversation }
      const commands = [openTurn('t1'), add('t1', `${conversation} one`, `${conversation} two`)]
      await memory.commit(at, run(...commands, rename('t1', 1, `${conversation} renamed`)))
      await memory.commit(at, run({ type: 'edit_tasks', by: 'person', remove: [{ task: 2 }] }))
      return { at, memory, events: await memory.eventsAfter(at, 0, 100), state: await memory.load(at) }
    }),
  )
  raw(db => {
    db.exec(`PRAGMA journal_mode = WAL; ${first}; PRAGMA application_id = 1381322323; PRAGMA user_version = 1`)
    const put = (table: string, ...values: (string | number | null)[]): unknown =>
      db.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values)
    for (const { at, events, state } of logs) {
      const name = at.conversation
      put('conversations', 'local', name, state.seq, `${name} title`, state.created_at, state.updated_at)
      for (const { seq, type, turn_id, timestamp, data } of events) {
        put('events', null, 'local', name, seq, 1, type, turn_id, timestamp, JSON.stringify(data))
      }
      for (const { id, removed, body } of rowsOf(emptyConversation(name), state, [commitOf(events)]).tasks) {
        const { status, position, number, created_at } = body
        const gone = removed ? 1 : 0
        put(
          'tasks',
          'local',
          id,
          name,
          't1',
          status,
          position,
          number,
          created_at,
          gone,
          body.title,
          JSON.stringify(body),
        )
      }
      put('snapshots', 'local', name, state.seq, SNAPSHOT_VERSION, freeze(state))
    }
  })
  const store = await openSqliteStore({ path })
  for (const { at, memory, events, state } of logs) {
    expect(await store.eventsAfter(at, 0, 100)).toEqual(events)
    expect(freeze(await store.load(at))).toBe(freeze(state))
    const page = { limit: 10 }
    for (const text of ['renamed', 'two']) {
      const found = await store.search.tasks('local', `${at.conversation} ${text}`, page)
      expect(found).toEqual(await memory.search.tasks('local', `${at.conversation} ${text}`, page))
    }
    const { seq, updated_at } = state
    expect(await store.queries.conversation(at)).toMatchObject({ title: `${at.conversation} title`, seq, updated_at })
    await store.commit(at, run(add('t1', 'after the migration')))
  }
  expect(raw(db => db.prepare('SELECT seq FROM snapshots').all())).toHaveLength(2)
  await store.close()
})

it('[SQ3][ST9] turns of a database of format 5 are claimed as before', async () => {
  const turns = await formerTurns()
  raw(db => {
    db.exec(`PRAGMA journal_mode = WAL; ${[first, fewerPages, pendingReviews, reviewsByDeadline, search].join('\n')};
      PRAGMA application_id = 1381322323; PRAGMA user_version = 5`)
    for (const { conversation, parked, leased, events } of turns) {
      const put = db.prepare('INSERT INTO conversations (tenant, conversation, created_at) VALUES (?, ?, ?)')
      const { lastInsertRowid: id } = put.run('acme', conversation, events[0]?.timestamp ?? '')
      for (const { seq, type, turn_id, timestamp, data } of events) {
        db.prepare(
          'INSERT INTO events (conversation_id, seq, v, type, turn_id, timestamp, data) VALUES (?, ?, 1, ?, ?, ?, ?)',
        ).run(id, seq, type, turn_id, timestamp, JSON.stringify(data))
      }
      db.prepare(
        `INSERT INTO turns (tenant, conversation, turn, status, parked, runner, attempt, until)
         VALUES ('acme', ?, 't1', 'running', ?, ?, ?, ?)`,
      ).run(conversation, Number(parked), ...(leased ? ['gone', 3, '2026-11-02T09:00:00.000Z'] : [null, 0, null]))
    }
  })
  let skew = 0
  const store = await openSqliteStore({ path, skewMs: () => skew })
  await expectClaimedAsBefore(store, ms => {
    skew += ms
  })
  await store.close()
})

it('[SQ3][ST27] a database of an older format gets the rows of its lists from its logs', async () => {
  const store = await openSqliteStore({ path })
  await markedConversations(store)
  const before = await store.queries.conversations('acme', { limit: 10 })
  expect(new Set(before.items.map(({ mark }) => mark))).toEqual(new Set(['failed', 'running', 'waiting', null]))
  await store.close()
  takeChecksumsAway(path)
  const upgraded = await openSqliteStore({ path })
  expect(await upgraded.queries.conversations('acme', { limit: 10 })).toEqual(before)
  expect(await differencesIn(upgraded)).toEqual([])
  await upgraded.close()
})
