import { join } from 'node:path'
import { add, openTurn, propose, run, startTurn } from '../../src/store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { runWriter } from './children.ts'
import { scratchFolder } from './scratch.ts'

/** The folder of a database that ended cleanly, with a plan, a review and a template. */
export async function closedDatabase(): Promise<string> {
  const folder = scratchFolder()
  const store = await openSqliteStore({ path: join(folder, 'runsheet.db') })
  const at = { tenant: 'local', conversation: 'plan' }
  await store.commit(at, run(openTurn('t1')))
  for (let index = 0; index < 30; index += 1) {
    await store.commit(at, run(add('t1', `task ${index} ${'x'.repeat(100)}`)))
  }
  await store.commit(at, run(startTurn('t2', { review: true }), propose('t2', 'rev-1', 'Bake', 'Sing')))
  const row = {
    title: 'Buy the cake',
    details: '',
    criteria: '',
    priority: 'medium',
    status: 'todo',
    tags: [],
  } as const
  await store.templates.put('local', { name: 'party', tasks: [row] })
  // Indexes it.
  await store.search.tasks('local', 'task', { limit: 1 })
  await store.close()
  return folder
}

/** Writes to the conversation `killed` and dies when that many commits are noted, so that all of them count. */
export async function killedWriter(folder: string, commits: number, bulk?: number): Promise<string> {
  const order = {
    store: 'sqlite',
    at: join(folder, 'runsheet.db'),
    conversation: 'killed',
    from: 0,
    to: 1_000_000,
  } as const
  const dieAt = { point: 'noted', nth: commits }
  await runWriter({ ...order, dieAt, ...(bulk === undefined ? {} : { bulk }) }).ended
  return folder
}
