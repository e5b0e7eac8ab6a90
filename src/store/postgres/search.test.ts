import { Client } from 'pg'
import { expect, it, vi } from 'vitest'
import { inLongRun } from '../../../test/support/children.ts'
import { describePostgres, ownDatabase, ownStore, sql, terminate } from '../../../test/support/postgres-store.ts'
import { atTestEnd } from '../../../test/support/test-end.ts'
import { SEARCH_KINDS, termsOf } from '../../core/text/search.ts'
import { add, openTurn, run } from '../../../test/store/contract.ts'
import type { FullStore, Store } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Database } from './connections.ts'
import { postgresSearch } from './search-index.ts'
import { newestStatement, newestValues } from './search-newest.ts'
import { SCHEMA } from './schema.ts'

describePostgres('search on postgres', () => {
  it('reads a few times as many documents as it returns, however many match', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    for (let commit = 0; commit < 150; commit += 1) {
      const titles = Array.from({ length: 19 }, (_, index) => `common ${index % 2 === 0 ? 'even' : 'odd'} word`)
      const rare = commit % 50 === 0 ? ['common and seldom'] : []
      const ref = { tenant: 'local', conversation: `c${commit % 5}` }
      await store.commit(ref, run(...(commit < 5 ? [openTurn('t')] : []), add('t', ...titles, ...rare)))
    }
    const isBehind = async (): Promise<boolean> => (await store.search.all('local', 'common', { limit: 1 })).indexing
    await expect.poll(isBehind, { timeout: 20_000 }).toBe(false)
    const read = (query: string): Promise<number> => documentsRead(url, query)
    expect(await read('seldom')).toBe(3)
    expect(await read('common seld')).toBe(3)
    expect(await read('common nowhere')).toBe(0)
    for (const query of ['common', 'com', 'c', 'word', 'common od']) {
      expect(await read(query)).toBeGreaterThanOrEqual(100)
      expect(await read(query)).toBeLessThan(1_000)
    }
  })
})

describePostgres('search on postgres, while others write', () => {
  it('[SE7] finds a commit that was queued before another, but committed while that was being indexed', async () => {
    const url = await ownDatabase()
    const { store: slow, committing, goOn } = await stalled(url)
    const store = await ownStore({ url })
    await store.search.all('local', 'warm', { limit: 1 })
    const planned = plan(slow, 'slow', 'alphaword')
    await committing
    // First, so that no background indexing comes before the search.
    const unlock = await stallIndexing(url)
    await plan(store, 'fast', 'betaword')
    const searching = store.search.all('local', 'betaword', { limit: 10 })
    await until(async () => expect(await sql(url, waitsFor('advisory'))).not.toEqual([]))
    goOn()
    await planned
    await unlock()
    await searching
    for (const word of ['alphaword', 'betaword']) {
      await until(async () => expect(await indexed(store, word)).toBe(true))
      expect((await store.search.tasks('local', word, { limit: 10 })).items).toHaveLength(1)
    }
  })

  it('[SE7] finds every plan that was acknowledged, with many writers on two nodes', { timeout: 120_000 }, async () => {
    const url = await ownDatabase()
    const nodes = [await ownStore({ url }), await ownStore({ url })]
    const words: string[] = []
    const writer = async (_: unknown, number: number): Promise<void> => {
      for (let turn = 0; turn < inLongRun(100, 8); turn += 1) {
        const word = `word${number}x${turn}x`
        const node = nodes[(number + turn) % 2]
        if (node) await plan(node, word, word)
        words.push(word)
      }
    }
    const over = new AbortController()
    const searcher = async (): Promise<void> => {
      while (!over.signal.aborted) await nodes[0]?.search.all('local', 'word1x1x', { limit: 1 })
    }
    const searching = searcher()
    await Promise.all(Array.from({ length: 24 }, writer))
    over.abort()
    await searching
    const [node] = nodes
    await until(async () => expect(node && (await indexed(node, 'word'))).toBe(true))
    const missed: string[] = []
    for (const word of words) {
      const found = await node?.search.tasks('local', word, { limit: 5 })
      if (found?.items.length !== 1) missed.push(word)
    }
    expect(missed).toEqual([])
  })
})

describePostgres('search on postgres that is held up', () => {
  it('[SE7] answers with what the index has if others have locked the queue', async () => {
    const url = await ownDatabase()
    const store = await ownStore({ url })
    await plan(store, 'c', 'alphaword')
    await until(async () => expect(await indexed(store, 'alphaword')).toBe(true))
    const unlock = await hold(url, `LOCK TABLE ${SCHEMA}.search_queue`)
    const found = await store.search.all('local', 'alphaword', { limit: 1, kind: 'task' })
    expect(found).toMatchObject({ results: [{ kind: 'task' }], indexing: true })
    await unlock()
  })

  it('[PG9][SE7] has one limit for all that it asks', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    atTestEnd(() => void vi.useRealTimers())
    const given: (number | undefined)[] = []
    const database: Database = {
      query: async () => [],
      write: async () => [],
      use: async (_, options) => {
        given.push(options?.ms)
        vi.advanceTimersByTime(1_500)
        throw new StoreError('busy', 'locked')
      },
    }
    const { search, indexing } = postgresSearch(database, 4_000)
    await expect(search.all('local', 'word', { limit: 1 })).rejects.toMatchObject({ code: 'busy' })
    await indexing.stop()
    // What the index was asked for in between has its own limit.
    const [first, ...others] = given.filter(ms => ms !== undefined)
    expect(first).toBe(4_000)
    expect(others.length).toBeGreaterThan(0)
    for (const ms of others) expect(ms).toBeLessThanOrEqual(2_500)
  })
})

/** A store whose next commit stalls right before COMMIT. */
async function stalled(url: string) {
  const committing = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const store = await ownStore({
    url,
    onFaultPoint: async point => {
      if (point !== 'committing') return
      committing.resolve()
      await goOn.promise
    },
  })
  atTestEnd(goOn.resolve)
  return { store, committing: committing.promise, goOn: goOn.resolve }
}

const plan = (store: Store, conversation: string, title: string): Promise<unknown> =>
  store.commit({ tenant: 'local', conversation }, run(openTurn('t'), add('t', title)))

/** Whether all is indexed. */
const indexed = async (store: FullStore, word: string): Promise<boolean> =>
  !(await store.search.all('local', word, { limit: 1 })).indexing

const until = (holds: () => Promise<void>): Promise<void> => vi.waitFor(holds, { timeout: 20_000, interval: 20 })

const waitsFor = (event: string): string =>
  `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = '${event}'`

/** Keeps a transaction with this statement open until the function is called. */
async function hold(url: string, statement: string): Promise<() => Promise<void>> {
  const holding = sql(url, `BEGIN; ${statement}; SELECT pg_sleep(60)`).catch(() => [])
  await until(async () => expect(await sql(url, waitsFor('PgSleep'))).toHaveLength(1))
  return async () => {
    await terminate(url, `wait_event = 'PgSleep'`)
    await holding
  }
}

/** Lets the indexer stall after it has read the queue, until the function is called. */
async function stallIndexing(url: string): Promise<() => Promise<void>> {
  const unlock = await hold(url, 'SELECT pg_advisory_xact_lock(42)')
  await sql(
    url,
    `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN PERFORM set_config('lock_timeout', '0', true); PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
     CREATE TRIGGER stall BEFORE INSERT ON ${SCHEMA}.search_documents FOR EACH STATEMENT EXECUTE FUNCTION stall()`,
  )
  return unlock
}

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly Plans?: readonly Plan[]
}

/** How many documents a search reads through the index. */
async function documentsRead(url: string, query: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('SET enable_seqscan = off')
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${newestStatement(SEARCH_KINDS, false).text}`,
      newestValues('local', SEARCH_KINDS, termsOf(query), { limit: 100, enough: 20 }),
    )
    return rows[0] ? read(rows[0]['QUERY PLAN'][0].Plan) : 0
  } finally {
    await client.end()
  }
}

function read(plan: Plan): number {
  const isScan = plan['Node Type'] === 'Bitmap Heap Scan' && plan['Relation Name'] === 'search_documents'
  const own = isScan ? plan['Actual Rows'] * plan['Actual Loops'] : 0
  return (plan.Plans ?? []).reduce((sum, part) => sum + read(part), Math.round(own))
}
