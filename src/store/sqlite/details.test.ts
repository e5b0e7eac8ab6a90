import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { freeze, SNAPSHOT_VERSION } from '../../domain/snapshot.ts'
import { add, note, openTurn, rename, run } from '../contract.ts'
import type { Ref } from '../store.ts'
import { openSqliteStore } from './store.ts'

const ref: Ref = { tenant: 'local', conversation: 'chat' }

let folder: string
let path: string
beforeEach(() => {
  folder = scratchFolder()
  path = join(folder, 'runsheet.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Looks into the file, or tampers with it, behind the store's back. */
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

  it('[SQ7] are written every 200 events, and a cold load begins with the newest', async () => {
    const state = await longLog()
    expect(raw(db => db.prepare('SELECT seq, v FROM snapshots').all())).toMatchObject([
      { seq: 200, v: SNAPSHOT_VERSION },
    ])
    expect(await coldLoad()).toBe(state)
    raw(db => db.exec(`UPDATE snapshots SET state = replace(state, '"last_number":1', '"last_number":77')`))
    expect(await coldLoad()).toBe(state.replace('"last_number":1', '"last_number":77'))
  })

  it('[SQ7] of another version are passed over: the log is folded', async () => {
    const state = await longLog()
    raw(db => db.exec(`UPDATE snapshots SET v = 0, state = 'not even JSON'`))
    expect(await coldLoad()).toBe(state)
  })

  it('[SQ7] come less often where the list is long', async () => {
    const store = await openSqliteStore({ path })
    await store.commit(ref, run(openTurn('t1')))
    for (let index = 0; index < 20; index += 1)
      await store.commit(ref, run(add('t1', ...Array.from({ length: 20 }, (_, i) => `${i}`))))
    for (let index = 0; index < 150; index += 1) await store.commit(ref, run(rename('t1', 1, `title ${index}`)))
    await store.close()
    // The first came when there were 200 tasks; with 400 the next is due 400 events later, beyond the 552 that there are.
    expect(raw(db => db.prepare('SELECT seq FROM snapshots').all())).toMatchObject([{ seq: 202 }])
  })
})

describe('a group', () => {
  it('[ST2] loses only the one that cannot be written', async () => {
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

it('has the indexes that lists by turn, by age and by status need', async () => {
  await (await openSqliteStore({ path })).close()
  const columns = raw(db =>
    db
      .prepare(
        `SELECT group_concat(name) AS columns FROM (SELECT i.name AS idx, c.name FROM pragma_index_list('tasks') i, pragma_index_info(i.name) c) GROUP BY idx`,
      )
      .all()
      .map(row => row['columns']),
  )
  for (const index of ['conversation,turn', 'conversation,created_at', 'turn,created_at', 'turn,status']) {
    expect(columns).toContain(`tenant,${index}`)
  }
})

it('[SQ3] opens a database of an older format by running what is missing', async () => {
  await (await openSqliteStore({ path })).close()
  // The first migration is the oldest there is: an empty database with our mark stands for what came before it.
  rmSync(path)
  raw(db => db.exec('PRAGMA application_id = 1381322323; PRAGMA journal_mode = WAL; VACUUM'))
  const store = await openSqliteStore({ path })
  await store.commit(ref, run(openTurn('t1')))
  expect((await store.load(ref)).seq).toBe(2)
  await store.close()
})
