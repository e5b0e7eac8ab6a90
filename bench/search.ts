import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { openDoor, type Door } from '../src/engine/door/door.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { freshDatabase, startPostgres } from '../test/support/postgres.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { type Line, median, millis, printTable, times } from './table.ts'
import { SCHEMA } from '../src/store/postgres/schema.ts'

const TASKS = 200_000
const PER_CONVERSATION = 200
const ROUNDS = 101
const GOAL_MS = 5

const WORST = 'report summary'

/** Typical queries. The last is the worst known case and has no goal. */
const QUERIES: readonly (readonly [what: string, query: string])[] = [
  ['a word that every task has', 'quarterly'],
  ['its beginning', 'quarter'],
  ['one letter', 'q'],
  ['a rare word', 'zanzibar'],
  ['two common words', 'quarterly report'],
  ['a common and a rare word', 'quarterly zanz'],
  ['three words', 'write report budg'],
  ['two characters of Chinese', '生日'],
  ['nothing', 'nowhere'],
  ['two common words that never meet', WORST],
]

const cost = (what: string, ours: string, beside: string): Line => ({
  what,
  ours,
  beside,
  ratio: '',
  goal: '',
  met: undefined,
})

const millis2 = (ms: number): string => `${ms.toFixed(2)} ms`

const megabytes = (path: string): string =>
  `${Math.round(['', '-wal'].reduce((sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0), 0) / 1e6)} MB`

const TITLE = `Median of ${ROUNDS} searches in ${TASKS.toLocaleString('en')} tasks, each with ranking, highlights and catch-up,`

const folder = scratchFolder()
const [texts, bareTexts] = [generated(), generated()]
await onSqlite()
await onPostgres()
rmSync(folder, { recursive: true })

async function onSqlite(): Promise<void> {
  const path = join(folder, 'ours.db')
  const door = openDoor({ store: await openSqliteStore({ path }) })
  await fill(door)
  const behind = await caughtUp(door)
  const bare = bareFts5(join(folder, 'bare.db'))
  const lines = await timed(door, { name: 'FTS5', run: async query => void bare.query(query), cpuMs: ourCpu })
  printTable(`${TITLE} on SQLite, beside a bare FTS5 query for the newest 20`, lines)
  printTable('What the index costs', [
    cost('index behind the log, caught up in slices', millis(behind), ''),
    cost('a change, then a search for it', millis(await changedAndFound(door)), ''),
    cost('database with the index', megabytes(path), `${bare.size()} bare FTS5 of the same tasks`),
  ])
  await door.close()
  bare.close()
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres({ fsync: false })
  const database = await freshDatabase(server.url)
  const door = openDoor({ store: await openPostgresStore({ url: database.url }) })
  await fill(door)
  const behind = await caughtUp(door)
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const processes = await serverProcesses(client)
  const run = async (): Promise<void> => void (await client.query({ name: 'bare', text: 'SELECT 1' }))
  const cpuMs = (): number => ourCpu() + processes.reduce((sum, id) => sum + cpuOf(id), 0)
  const lines = await timed(door, { name: 'SELECT 1', run, cpuMs })
  printTable(`${TITLE} on PostgreSQL, two round trips, beside a bare SELECT 1, one`, lines)
  printTable('What the index costs', [
    cost('index behind the log, caught up in slices', millis(behind), ''),
    cost('a change, then a search for it', millis(await changedAndFound(door)), ''),
    cost('index', await indexSize(client), ''),
  ])
  await client.end()
  await door.close()
  await server.stop()
}

interface Bare {
  readonly name: string
  readonly run: (query: string) => Promise<void>
  /** CPU time so far, of this process and of the server processes that it uses. */
  readonly cpuMs: () => number
}

async function timed(door: Door, bare: Bare): Promise<Line[]> {
  const lines: Line[] = []
  for (const [what, query] of QUERIES) {
    const [ours, theirs, cpu]: [number[], number[], number[]] = [[], [], []]
    let found = 0
    // Negative rounds warm up: PostgreSQL caches its plans.
    for (let round = -5; round < ROUNDS; round += 1) {
      const cpuBefore = bare.cpuMs()
      const start = performance.now()
      found = (await door.search.all('local', query, { limit: 20 })).results.length
      const middle = performance.now()
      const cpuAfter = bare.cpuMs()
      const restart = performance.now()
      await bare.run(query)
      if (round < 0) continue
      ours.push(middle - start)
      theirs.push(performance.now() - restart)
      cpu.push(cpuAfter - cpuBefore)
    }
    const [mine, other] = [median(ours), median(theirs)]
    lines.push({
      what: `${what}: ${query} (${found})`,
      ours: `${millis2(mine)}, quickest ${millis2(Math.min(...ours))}, CPU ${millis2(median(cpu))}`,
      beside: `${millis2(other)} ${bare.name}`,
      ratio: times(mine / other),
      goal: query === WORST ? '' : `under ${GOAL_MS} ms`,
      met: query === WORST ? undefined : mine < GOAL_MS,
    })
  }
  return lines
}

function ourCpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Linux only; elsewhere 0. */
function cpuOf(id: number): number {
  try {
    return Number(readFileSync(`/proc/${id}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

/** Server processes of the store, one per connection. */
async function serverProcesses(client: Client): Promise<number[]> {
  const sql = `SELECT pid FROM pg_stat_activity WHERE application_name = 'runsheet' AND datname = current_database()`
  return (await client.query<{ pid: number }>(sql)).rows.map(({ pid }) => pid)
}

async function indexSize(client: Client): Promise<string> {
  const sql = `SELECT pg_total_relation_size('${SCHEMA}.search_documents') AS size`
  return `${Math.round(Number((await client.query<{ size: string }>(sql)).rows[0]?.size) / 1e6)} MB`
}

/** An FTS5 table as its documentation shows it, with the titles and details of the same tasks. */
function bareFts5(path: string): { query: (text: string) => number; size: () => string; close: () => void } {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE bare USING fts5(title, details)')
  const put = db.prepare('INSERT INTO bare (title, details) VALUES (?, ?)')
  db.exec('BEGIN')
  for (let index = 0; index < TASKS; index += 1) {
    const { title, details } = bareTexts()
    put.run(title, details)
  }
  db.exec('COMMIT')
  const find = db.prepare('SELECT rowid, title, details FROM bare WHERE bare MATCH ? ORDER BY rowid DESC LIMIT 20')
  return {
    query: text => {
      const words = text.split(' ').map(word => `"${word}"`)
      return find.all(`${words.join(' ')}*`).length
    },
    size: () => megabytes(path),
    close: () => db.close(),
  }
}

async function fill(door: Door): Promise<void> {
  const conversations = Array.from({ length: TASKS / PER_CONVERSATION }, (_, index) => `c${index}`)
  const fillOne = async (conversation: string): Promise<void> => {
    const ref = { tenant: 'local', conversation }
    await door.run(ref, { type: 'open_turn', turn_id: 't1', host: { toolset: 'turn_todos' } })
    for (let made = 0; made < PER_CONVERSATION; made += 20) {
      const create = Array.from({ length: 20 }, () => ({ id: door.newId(), ...texts() }))
      await door.run(ref, { type: 'edit_tasks', by: 'model', turn_id: 't1', create })
    }
  }
  for (let index = 0; index < conversations.length; index += 50) {
    await Promise.all(conversations.slice(index, index + 50).map(fillOne))
  }
}

async function caughtUp(door: Door): Promise<number> {
  const start = performance.now()
  while ((await door.search.all('local', 'anything', { limit: 1 })).indexing);
  return performance.now() - start
}

async function changedAndFound(door: Door): Promise<number> {
  const ref = { tenant: 'local', conversation: 'c0' }
  const figures: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const details = `Looked at in round uniquely${round}`
    const start = performance.now()
    await door.run(ref, { type: 'edit_tasks', by: 'person', change: [{ task: 1, fields: { details } }] })
    const { results } = await door.search.all('local', `uniquely${round}`, { limit: 1, kind: 'task' })
    figures.push(performance.now() - start)
    if (results.length !== 1) throw new Error('a search missed a change before it')
  }
  return median(figures)
}

/** Realistic task texts, the same in every run. */
function generated(): () => { title: string; details: string } {
  let seed = 7
  let made = 0
  const draw = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
    // The low bits of this generator repeat soon.
    return (seed >> 8) % below
  }
  const syllables = ['ba', 'co', 'di', 'fu', 'ga', 'he', 'ji', 'ka', 'lo', 'mi', 'nu', 'pa', 'ro', 'sa', 'te', 'vi']
  const word = (): string =>
    Array.from({ length: 2 + draw(3) }, () => syllables[Math.floor((draw(16) * (1 + draw(16))) / 16)] ?? '').join('')
  const words = (count: number): string => Array.from({ length: count }, word).join(' ')
  return () => {
    made += 1
    const rare = made % 5_000 === 0 ? ' in Zanzibar' : ''
    const chinese = made % 100 === 0 ? ' 准备生日派对的预算' : ''
    return {
      title: `Write the quarterly ${draw(3) === 0 ? 'report' : 'summary'} about ${words(3)}${rare}`,
      details: `The ones of ${words(6)}, with the budget of ${word()}${chinese}.`,
    }
  }
}
