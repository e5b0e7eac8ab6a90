import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { type Door, openDoor } from '../src/engine/door/door.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { freshDatabase, startPostgres } from '../test/support/postgres.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { type Line, median, printTable, times } from './table.ts'
import { SCHEMA } from '../src/store/postgres/schema.ts'

const SIZES = [1_000, 10_000]
const SHOWN = 1_000
const PAGE = 200
const ROUNDS = 31
const TURNS = 3
const GOAL_MS = 50

const millis2 = (ms: number): string => `${ms.toFixed(2)} ms`

const folder = scratchFolder()
const server = await startPostgres({ fsync: false })
try {
  for (const size of SIZES) {
    await onSqlite(size)
    await onPostgres(size)
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}

async function onSqlite(size: number): Promise<void> {
  const path = join(folder, `${size}.db`)
  const door = openDoor({ store: await openSqliteStore({ path }) })
  await fill(door, size)
  const db = new DatabaseSync(path, { readOnly: true })
  const bare = db.prepare(
    "SELECT conversation, title, created_at FROM conversations WHERE tenant = 'local' ORDER BY created_at DESC LIMIT ?",
  )
  await compare(`SQLite, ${size.toLocaleString('en')} conversations`, door, async limit => bare.all(limit).length)
  db.close()
  await door.close()
}

async function onPostgres(size: number): Promise<void> {
  const database = await freshDatabase(server.url)
  const door = openDoor({ store: await openPostgresStore({ url: database.url }) })
  await fill(door, size)
  const client = new Client({ connectionString: database.url })
  await client.connect()
  // Autovacuum does this within minutes; without statistics the planner sorts all conversations.
  await client.query(`ANALYZE ${SCHEMA}.conversations`)
  const text = `SELECT conversation, title, created_at FROM ${SCHEMA}.conversations WHERE tenant = 'local' ORDER BY created_at DESC LIMIT $1`
  await compare(`PostgreSQL, ${size.toLocaleString('en')} conversations`, door, async limit => {
    const { rows } = await client.query({ name: 'bare', text, values: [limit] })
    return rows.length
  })
  await client.end()
  await door.close()
  await database.drop()
}

/** Creates conversations with a few turns, every tenth pinned and every seventh archived. */
async function fill(door: Door, size: number): Promise<void> {
  const fillOne = async (index: number): Promise<void> => {
    const ref = { tenant: 'local', conversation: `c${index}` }
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const turn_id = `t${turn}`
      await door.run(
        ref,
        {
          type: 'start_turn',
          turn_id,
          message_id: 'm',
          message: `Question ${index} about the quarter`,
          model: 'bench',
        },
        { type: 'finish_turn', turn_id, because: 'stopped', steps: 1, usage: {} },
      )
    }
    if (index % 10 === 0) await door.run(ref, { type: 'set_pinned', pinned: true })
    if (index % 7 === 0) await door.run(ref, { type: 'set_archived', archived: true })
  }
  for (let from = 0; from < size; from += 50) {
    await Promise.all(Array.from({ length: Math.min(50, size - from) }, (_, index) => fillOne(from + index)))
  }
}

async function read(door: Door, most: number, page: number): Promise<number> {
  let [count, cursor]: [number, string | undefined] = [0, undefined]
  do {
    const { items, next_cursor } = await door.conversations.list('local', { limit: page, cursor })
    count += items.length
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined && count < most)
  return count
}

async function compare(title: string, door: Door, bare: (limit: number) => Promise<number>): Promise<void> {
  const lines: Line[] = []
  for (const [what, most, page] of [
    ['the first page of 50', 50, 50],
    [`the first ${SHOWN.toLocaleString('en')}, in pages of ${PAGE}`, SHOWN, PAGE],
  ] as const) {
    const [ours, theirs]: [number[], number[]] = [[], []]
    let count = 0
    for (let round = -3; round < ROUNDS; round += 1) {
      const start = performance.now()
      count = await read(door, most, page)
      const middle = performance.now()
      await bare(most)
      if (round < 0) continue
      ours.push(middle - start)
      theirs.push(performance.now() - middle)
    }
    const [mine, other] = [median(ours), median(theirs)]
    lines.push({
      what: `${what} (${count})`,
      ours: `${millis2(mine)}, quickest ${millis2(Math.min(...ours))}`,
      beside: `${millis2(other)} one bare query`,
      ratio: times(mine / other),
      goal: `under ${GOAL_MS} ms`,
      met: mine < GOAL_MS,
    })
  }
  printTable(`Median of ${ROUNDS} lists, pinned first, with marks: ${title}`, lines)
}
