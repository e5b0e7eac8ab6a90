import { expect, it, vi } from 'vitest'
import { inLongRun } from '../../../test/support/children.ts'
import { describePostgres, ownDatabase, ownStore, sql, terminate } from '../../../test/support/postgres-store.ts'
import { atTestEnd } from '../../../test/support/test-end.ts'
import { add, openTurn, run } from '../../../test/store/contract.ts'
import type { FullStore, Store } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Connections } from './connections.ts'
import { postgresSearch } from './search-index.ts'
import { SCHEMA } from './schema.ts'

describePostgres('search on postgres', () => {
  it('finds rare words among the older documents, and pages through common ones in order', async () => {
    const store = await ownStore({ url: await ownDatabase() })
    for (let commit = 0; commit < 40; commit += 1) {
      const rare = commit < 3 ? ['common and seldom'] : []
      const titles = [...rare, ...Array.from({ length: 20 - rare.length }, (_, index) => `common word ${index}`)]
      const ref = { tenant: 'local', conversation: `c${commit % 5}` }
      await store.commit(ref, run(...(commit < 5 ? [openTurn('t')] : []), add('t', ...titles)))
    }
    await until(async () => expect(await indexed(store, 'common')).toBe(true))
    expect((await store.search.tasks('local', 'common seld', { limit: 10 })).items).toHaveLength(3)
    expect((await store.search.tasks('local', 'common nowhere', { limit: 10 })).items).toEqual([])
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await store.search.tasks('local', 'comm', { limit: 90, ...(cursor ? { cursor } : {}) })
      found.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor
    }
    const all = (await Promise.all([0, 1, 2, 3, 4].map(n => store.load({ tenant: 'local', conversation: `c${n}` }))))
      .flatMap(({ tasks }) => [...tasks.values()])
      .map(({ id }) => id)
    expect(found).toHaveLength(800)
    expect(new Set(found)).toEqual(new Set(all))
    // Written last, so found first.
    expect(found.slice(0, 20)).toEqual(found.slice(0, 20).toSorted().toReversed())
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
    const use: Connections['use'] = async (_, options) => {
      given.push(options?.ms)
      vi.advanceTimersByTime(1_500)
      throw new StoreError('busy', 'locked')
    }
    const database = { use, query: async () => [] }
    const { search, indexing } = postgresSearch(database, 4_000)
    await expect(search.all('local', 'word', { limit: 1 })).rejects.toMatchObject({ code: 'busy' })
    await indexing.stop()
    // The indexing before it has its own limit.
    const asked = given.filter(ms => ms !== undefined)
    expect(asked.length).toBeGreaterThan(0)
    for (const ms of asked) expect(ms).toBeLessThanOrEqual(2_500)
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
