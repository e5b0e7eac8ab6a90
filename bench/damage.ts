import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openDoor } from '../src/engine/door/door.ts'
import { HeadFile, linkOf } from '../src/store/sqlite/head-file.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { change, planned } from './plan.ts'
import { median, micros, millis, printTable, type Line } from './table.ts'

const ROUNDS = 15
const COMMITS = 500
const CALLS = 20_000
const EVENTS = 200_000

const ref = { tenant: 'local', conversation: 'mcp-0190a000-0000-7000-8000-000000000001' }
/** Same length as the row of a changed task. */
const row = {
  seq: 12_345,
  v: 1,
  type: 'task_changed',
  turn_id: '0190a000-0000-7000-8000-000000000002',
  timestamp: '2026-11-05T10:20:30.123Z',
  data: JSON.stringify({ task: { title: 'x'.repeat(610) } }),
}

/** Cost of noticing damage, per commit and at start. */
export async function benchDamage(): Promise<void> {
  const folder = scratchFolder()
  try {
    printTable('SQLite: noticing damage, per commit (medians of rounds that alternate)', await perCommit(folder))
    printTable(
      `SQLite: opening a database of ${EVENTS.toLocaleString('en')} events (processor time)`,
      await opening(folder),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function perCommit(folder: string): Promise<Line[]> {
  const door = openDoor({ store: await openSqliteStore({ path: join(folder, 'ours.db') }) })
  const at = await planned(door, 'one', 20)
  const head = new HeadFile(join(folder, 'bench.db'))
  let events = 0
  let link = ''
  const costs = { commit: [] as number[], link: [] as number[], note: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    costs.commit.push(
      await microsOf(COMMITS, async () => {
        for (let index = 0; index < COMMITS; index += 1) await door.run(at, change((events += 1)))
      }),
    )
    costs.link.push(await microsOf(CALLS, () => repeat(CALLS, () => (link = linkOf(ref, link, row)))))
    costs.note.push(await microsOf(CALLS, () => repeat(CALLS, () => head.note({ id: (events += 1), link }))))
  }
  head.close()
  await door.close()
  const commit = median(costs.commit)
  const line = (what: string, cost: number, goal?: number): Line => ({
    what,
    ours: micros(cost),
    beside: `${micros(commit)} for a commit`,
    ratio: `${((cost / commit) * 100).toFixed(1)} %`,
    goal: goal === undefined ? '' : `at most ${goal} %`,
    met: goal === undefined ? undefined : cost / commit <= goal / 100,
  })
  const [chained, note] = [median(costs.link), median(costs.note)]
  return [
    line('link of an event, and note in the head file', chained + note, 5),
    line('  the link (SHA-256)', chained),
    line('  the note', note),
  ]
}

async function opening(folder: string): Promise<Line[]> {
  const path = join(folder, 'large.db')
  await filled(path)
  const costs = await repeated(async () => opened(path))
  const quick = await repeated(async () => quickCheck(path))
  return [
    {
      what: 'a start',
      ours: millis(costs),
      beside: `${millis(quick)} for PRAGMA quick_check`,
      ratio: `${(costs / quick).toFixed(2)}×`,
      goal: '',
      met: undefined,
    },
  ]
}

async function filled(path: string): Promise<void> {
  const store = await openSqliteStore({ path })
  const data = { message_id: 'm', role: 'assistant', text: 'x'.repeat(600) } as const
  const events = Array.from({ length: EVENTS / 200 }, () => ({ type: 'message_added', turn_id: null, data }) as const)
  for (let conversation = 1; conversation <= 200; conversation += 1) {
    await store.commit({ ...ref, conversation: `c${conversation}` }, () => ({ value: 0, events }))
  }
  await store.close()
}

/** CPU time, because wall time varies on a busy machine. */
async function opened(path: string): Promise<number> {
  const start = process.cpuUsage()
  const store = await openSqliteStore({ path })
  const took = cpuMillis(start)
  await store.close()
  return took
}

async function quickCheck(path: string): Promise<number> {
  const start = process.cpuUsage()
  const db = new DatabaseSync(path, { readOnly: true })
  db.prepare('PRAGMA quick_check(1)').get()
  db.close()
  return cpuMillis(start)
}

async function repeated(cost: () => Promise<number>): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round < 5; round += 1) costs.push(await cost())
  return median(costs)
}

function cpuMillis(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

async function microsOf(count: number, work: () => Promise<void> | void): Promise<number> {
  const start = performance.now()
  await work()
  return ((performance.now() - start) / count) * 1_000
}

function repeat(count: number, work: () => void): void {
  for (let index = 0; index < count; index += 1) work()
}
