import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { add, openTurn, propose, run, startTurn } from '../store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { runWriter } from './children.ts'
import { scratchFolder } from './scratch.ts'

/** The folder of a database that ended cleanly, with a plan and a review. */
export async function closedDatabase(): Promise<string> {
  const folder = scratchFolder()
  const store = await openSqliteStore({ path: join(folder, 'runsheet.db') })
  const at = { tenant: 'local', conversation: 'plan' }
  await store.commit(at, run(openTurn('t1')))
  for (let index = 0; index < 30; index += 1) {
    await store.commit(at, run(add('t1', `task ${index} ${'x'.repeat(100)}`)))
  }
  await store.commit(
    at,
    run(startTurn('t2', { review: true, review_timeout_ms: null }), propose('t2', 'rev-1', 'Bake', 'Sing')),
  )
  // Indexes it.
  await store.search.tasks('local', 'task', { limit: 1 })
  await store.close()
  return folder
}

/** Writes to the conversation `killed` and dies when that many commits are noted, so that all of them count. */
export async function killedWriter(folder: string, commits: number): Promise<string> {
  const order = {
    store: 'sqlite',
    at: join(folder, 'runsheet.db'),
    conversation: 'killed',
    from: 0,
    to: 1_000_000,
  } as const
  const dieAt = { point: 'noted', nth: commits }
  await runWriter({ ...order, dieAt }).ended
  return folder
}

/**
 * The folder of a database whose tables and indexes have several pages, all of them in the file: written, checked by a start,
 * then left by a process that was killed. With pending reviews.
 */
export async function indexedDatabase(): Promise<string> {
  const folder = scratchFolder()
  const path = join(folder, 'runsheet.db')
  const store = await openSqliteStore({ path })
  for (const conversation of NAMES) {
    const at = { tenant: 'local', conversation }
    await store.commit(at, run(openTurn('t1')))
    for (let index = 0; index < 12; index += 1) {
      const titles = Array.from({ length: 5 }, (_, task) => `task ${index}.${task} of ${conversation}`)
      await store.commit({ ...at, once: { key: `key-${index}`, bodyHash: 'x' } }, run(add('t1', ...titles)))
    }
    await store.commit(
      at,
      run(
        startTurn('t2', { review: true, review_timeout_ms: null }),
        propose('t2', `rev-${conversation}`, 'Bake', 'Sing'),
      ),
    )
  }
  await store.close()
  await killedWriter(folder, 20)
  const db = new DatabaseSync(path)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return folder
}

const NAMES = Array.from({ length: 40 }, (_, index) => `conversation-${index}-${'x'.repeat(40)}`)
