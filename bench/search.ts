import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openDoor, type Door } from '../src/door/door.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { freshDatabase, startPostgres } from '../test/support/postgres.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { type Line, median, millis, printTable, times } from './table.ts'

const TASKS = 200_000
const PER_CONVERSATION = 200
const ROUNDS = 21
const GOAL_MS = 5

/** What people type, and what it stands for. */
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
  const lines = await timed(door, bare.query)
  printTable(
    `Search in ${TASKS.toLocaleString('en')} tasks on SQLite, beside a bare FTS5 query for the newest 20`,
    lines,
  )
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
  const bare = bareFts5(join(folder, 'bare-2.db'))
  const lines = await timed(door, bare.query)
  printTable(`Search in ${TASKS.toLocaleString('en')} tasks on PostgreSQL, beside the same`, lines)
  printTable('What the index costs', [
    cost('index behind the log, caught up in slices', millis(behind), ''),
    cost('a change, then a search for it', millis(await changedAndFound(door)), ''),
  ])
  await door.close()
  bare.close()
  await server.stop()
}

/** The time of each query, and of the bare one in the same round. */
async function timed(door: Door, bare: (query: string) => number): Promise<Line[]> {
  const lines: Line[] = []
  for (const [what, query] of QUERIES) {
    const ours: number[] = []
    const theirs: number[] = []
    let found = 0
    for (let round = 0; round <= ROUNDS; round += 1) {
      const start = performance.now()
      found = (await door.search.all('local', query, { limit: 20 })).results.length
      const middle = performance.now()
      bare(query)
      // Round 0 is a warm-up.
      if (round === 0) continue
      ours.push(middle - start)
      theirs.push(performance.now() - middle)
    }
    const [mine, other] = [median(ours), median(theirs)]
    lines.push({
      what: `${what}: ${query} (${found})`,
      ours: millis2(mine),
      beside: `${millis2(other)} bare`,
      ratio: times(mine / other),
      goal: `under ${GOAL_MS} ms`,
      met: mine < GOAL_MS,
    })
  }
  return lines
}

/** A table of FTS5 as its documentation has it, with the titles and details of the same tasks. */
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

/** How long it takes until a search is complete again. */
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

/** Tasks as people word them, the same in every run. */
function generated(): () => { title: string; details: string } {
  let seed = 7
  let made = 0
  const draw = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff
    return seed % below
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
