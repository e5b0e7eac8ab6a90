import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { openDoor } from '../src/door/door.ts'
import { Checksums } from '../src/store/checksum.ts'
import { HeadFile } from '../src/store/sqlite/head-file.ts'
import { WalLength } from '../src/store/sqlite/wal-length.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { change, planned } from './plan.ts'
import { type Line, median, micros, millis, printTable } from './table.ts'

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

/** Cost of detecting corruption, per commit and at start. */
export async function benchChecksums(): Promise<void> {
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
  const sums = new Checksums('0123456789abcdef0123456789abcdef')
  const head = new HeadFile(join(folder, 'bench.db'), 'bench')
  head.begin()
  const wal = new WalLength(join(folder, 'ours.db'), 4_096)
  const file = openSync(join(folder, 'flushed'), 'w')
  const record = Buffer.alloc(64)
  let events = 0
  let chain = 0
  let digest = ''
  const work = {
    commit: async () => {
      for (let index = 0; index < COMMITS; index += 1) await door.run(at, change((events += 1)))
    },
    checksum: () => void sums.event(ref, row),
    chained: () => {
      chain = crc32(`${chain}\n${row.seq}\n${row.type}\n${row.turn_id}\n${row.timestamp}\n`, chain)
      chain = crc32(row.data, chain)
    },
    sha256: () => {
      digest = hash('sha256', `${digest}\n${row.seq}\n${row.type}\n${row.turn_id}\n${row.timestamp}\n${row.data}`)
    },
    note: () => head.note({ events: (events += 1), templates: 0 }),
    look: () => {
      wal.isCut()
      wal.follow()
    },
    flushed: () => {
      writeSync(file, record, 0, 64, 0)
      fdatasyncSync(file)
    },
  }
  const costs: Record<keyof typeof work, number[]> = {
    commit: [],
    checksum: [],
    chained: [],
    sha256: [],
    note: [],
    look: [],
    flushed: [],
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    costs.commit.push(await microsOf(COMMITS, work.commit))
    for (const name of ['checksum', 'chained', 'sha256', 'note', 'look'] as const) {
      costs[name].push(await microsOf(CALLS, () => repeat(CALLS, work[name])))
    }
    costs.flushed.push(await microsOf(100, () => repeat(100, work.flushed)))
  }
  closeSync(file)
  head.close()
  wal.close()
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
  const [checksum, note, look] = [median(costs.checksum), median(costs.note), median(costs.look)]
  return [
    line('checksum of an event, note in the head file, look at the end of the WAL', checksum + note + look, 3),
    line('  the checksum (CRC-32)', checksum),
    line('  the note', note),
    line('  the look', look),
    line('not used: a chain of CRC-32', median(costs.chained)),
    line('not used: a chain of SHA-256', median(costs.sha256)),
    line('not used: a flush of the note', median(costs.flushed)),
  ]
}

async function opening(folder: string): Promise<Line[]> {
  const path = join(folder, 'large.db')
  await filled(path)
  await opened(path)
  const clean = await repeated(path, () => {})
  const checked = await repeated(path, () => rmSync(`${path}-head`, { force: true }))
  const killed = await repeated(path, () => breakSeal(path))
  const quick = quickCheck(path)
  const line = (what: string, ms: number, goal?: number): Line => ({
    what,
    ours: millis(ms),
    beside: `${millis(quick)} for PRAGMA quick_check`,
    ratio: `${(ms / quick).toFixed(2)}×`,
    goal: goal === undefined ? '' : `at most ${goal.toFixed(2)}×`,
    met: goal === undefined ? undefined : ms / quick <= goal,
  })
  return [
    line('after a clean end', clean, 1),
    line('after kill -9', killed),
    line('after kill -9, and with every log folded', checked),
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

/** Simulates a kill after the last commit. */
function breakSeal(path: string): void {
  const file = openSync(`${path}-head`, 'r+')
  writeSync(file, Buffer.alloc(64), 0, 64, 64)
  closeSync(file)
}

/** CPU time, because wall time varies on a busy machine. */
async function opened(path: string): Promise<number> {
  const start = process.cpuUsage()
  const store = await openSqliteStore({ path })
  const took = cpuMillis(start)
  await store.commit(ref, () => ({ value: 0, events: [{ type: 'message_added', turn_id: null, data: NOTE }] }))
  await store.close()
  return took
}

const NOTE = { message_id: 'm', role: 'assistant', text: 'x' } as const

async function repeated(path: string, before: () => void): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round < 5; round += 1) {
    before()
    costs.push(await opened(path))
  }
  return median(costs)
}

function quickCheck(path: string): number {
  const costs = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage()
    const db = new DatabaseSync(path, { readOnly: true })
    db.prepare('PRAGMA quick_check(1)').get()
    db.close()
    return cpuMillis(start)
  })
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
