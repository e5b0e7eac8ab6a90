import { Client } from 'pg'
import { expect, it } from 'vitest'
import { describePostgres, ownDatabase, ownStore } from '../../../test/support/postgres-store.ts'
import { SEARCH_KINDS, termsOf } from '../../domain/search.ts'
import { add, openTurn, run } from '../contract.ts'
import { newestStatement, newestValues } from './search-newest.ts'

describePostgres('search on postgres', () => {
  it('[SE12] reads a few times as many documents as it returns, however many match', async () => {
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
