import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, openDoor, taskPage } from '../src/engine/door/door.ts'
import { connect, openDatabase } from '../src/store/sqlite/open.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import type { Ref } from '../src/store/store.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { change, create, planned } from './plan.ts'
import { type Line, median, micros, perSecond, printTable, rate, sideBySide, times } from './table.ts'

const ROUNDS = 7

/** A bare transaction of the same rows in the same schema, with the same flush. */
export async function bareSqlite(
  path: string,
): Promise<{ transact: (events: number) => void; read: (conversation: string) => unknown; close: () => void }> {
  ;(await openDatabase(path)).close()
  const db = connect(path)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const head = db.prepare('SELECT max(seq) AS seq FROM events WHERE conversation_id = ?')
  const putConversation = db.prepare(
    "INSERT INTO conversations (tenant, conversation, created_at, active_at, pinned, archived) VALUES ('local', 'bare', ?1, ?1, 0, 0) RETURNING id",
  )
  const putEvent = db.prepare(
    'INSERT INTO events (conversation_id, seq, v, type, turn_id, timestamp, data, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const putTask = db.prepare(
    `INSERT INTO tasks (tenant, id, conversation_id, seq, removed) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET seq = excluded.seq, removed = excluded.removed`,
  )
  const list = db.prepare(
    `SELECT data FROM events JOIN conversations c ON c.id = conversation_id
     WHERE tenant = ? AND conversation = ? AND type = 'task_created' ORDER BY seq`,
  )
  // Same length as in a change of ours.
  const data = 'x'.repeat(640)
  const at = new Date().toISOString()
  const id = Number(putConversation.get(at)?.['id'])
  let seq = 0
  return {
    transact: events => {
      begin.run()
      head.get(id)
      for (let index = 0; index < events; index += 1) {
        seq += 1
        putEvent.run(id, seq, 1, 'task_changed', 't1', at, data, 'x'.repeat(22))
        putTask.run('local', events === 1 ? 'task' : `task-${seq}`, id, seq, 0)
      }
      commit.run()
    },
    read: conversation => list.all('local', conversation).map(row => JSON.parse(String(row['data'])) as unknown),
    close: () => db.close(),
  }
}

export async function benchSqlite(): Promise<Line[]> {
  const folder = scratchFolder()
  const bare = await bareSqlite(join(folder, 'bare.db'))
  const door = openDoor({ store: await openSqliteStore({ path: join(folder, 'ours.db') }) })
  try {
    const lines = [
      await oneChange(door, bare.transact),
      await batch(door, bare.transact),
      await reading(door, join(folder, 'ours.db')),
      await together(door, bare.transact),
      ...(await growing(door)),
    ]
    printTable('SQLite (WAL, synchronous=FULL), beside a bare node:sqlite transaction that writes the same rows', lines)
    return lines
  } finally {
    await door.close()
    bare.close()
    rmSync(folder, { recursive: true })
  }
}

async function oneChange(door: Door, transact: (events: number) => void): Promise<Line> {
  const ref = await planned(door, 'one', 20)
  const count = 1_500
  const { ours, theirs, ratio } = await sideBySide(
    ROUNDS,
    () => rate(count, () => sequence(door, ref, count)),
    () => rate(count, () => repeat(count, () => transact(1))),
  )
  return {
    what: 'one change, one at a time',
    ours: perSecond(ours),
    beside: `${perSecond(theirs)} bare`,
    ratio: times(ratio),
    goal: 'at least 0.70×',
    met: ratio >= 0.7,
  }
}

async function batch(door: Door, transact: (events: number) => void): Promise<Line> {
  const count = 100
  let conversation = 0
  const { ours, theirs, ratio } = await sideBySide(
    ROUNDS,
    async () => {
      const refs = await Promise.all(
        Array.from({ length: count }, () => planned(door, `batch-${(conversation += 1)}`, 0)),
      )
      return rate(count, async () => {
        for (const ref of refs) await door.run(ref, create(door, 20))
      })
    },
    () => rate(count, () => repeat(count, () => transact(20))),
  )
  return {
    what: 'a batch of 20 tasks',
    ours: perSecond(ours),
    beside: `${perSecond(theirs)} bare`,
    ratio: times(ratio),
    goal: '',
    met: undefined,
  }
}

async function reading(door: Door, path: string): Promise<Line> {
  const ref = await planned(door, 'reading', 20)
  const bare = await bareSqlite(path)
  const count = 3_000
  const { ours, theirs, ratio } = await sideBySide(
    ROUNDS,
    () =>
      rate(count, async () => {
        for (let index = 0; index < count; index += 1) taskPage(await door.read(ref), {}, { limit: 200 })
      }),
    () => rate(count, () => repeat(count, () => bare.read(ref.conversation))),
  )
  bare.close()
  return {
    what: 'reading a list of 20',
    ours: perSecond(ours),
    beside: `${perSecond(theirs)} bare`,
    ratio: times(ratio),
    goal: '',
    met: undefined,
  }
}

async function together(door: Door, transact: (events: number) => void): Promise<Line> {
  const refs = await Promise.all(Array.from({ length: 100 }, (_, index) => planned(door, `caller-${index}`, 5)))
  const each = 30
  const { ours, theirs, ratio } = await sideBySide(
    ROUNDS,
    () => rate(100 * each, async () => void (await Promise.all(refs.map(ref => sequence(door, ref, each))))),
    () => rate(1_500, () => repeat(1_500, () => transact(1))),
  )
  return {
    what: '100 callers at once',
    ours: perSecond(ours),
    beside: `${perSecond(theirs)} bare, one at a time`,
    ratio: times(ratio),
    goal: 'at least 2.50×',
    met: ratio >= 2.5,
  }
}

/** Times the same change in short, long and very long conversations. */
async function growing(door: Door): Promise<Line[]> {
  const sizes = [10, 1_000, 100_000]
  const refs = await Promise.all(sizes.map(size => grown(door, size)))
  const count = 500
  const costs = sizes.map((): number[] => [])
  for (let round = 0; round < 9; round += 1) {
    for (const [index, ref] of refs.entries()) {
      costs[index]?.push(1_000_000 / (await rate(count, () => sequence(door, ref, count))))
    }
  }
  const [shortest = Number.NaN] = costs.map(median)
  return sizes.map((size, index) => {
    const cost = median(costs[index] ?? [])
    const ratio = cost / shortest
    return {
      what: `one change after ${size.toLocaleString('en')} events`,
      ours: micros(cost),
      beside: `${micros(shortest)} after 10`,
      ratio: times(ratio),
      goal: index === 0 ? '' : 'within 1.20×',
      met: index === 0 ? undefined : ratio <= 1.2,
    }
  })
}

/** Creates and settles plans of five until the log has `events` events. */
async function grown(door: Door, events: number): Promise<Ref> {
  const ref = await planned(door, `grown-${events}`, 2)
  for (let { seq } = await door.read(ref); seq < events; ) {
    const made = await door.run(ref, create(door, Math.max(1, Math.min(5, events - seq))))
    const tasks = made.events.flatMap(event => (event.type === 'task_created' ? [event.data.task.id] : []))
    seq = made.conversation.seq
    if (seq + tasks.length > events) continue
    const fields = { status: 'completed', outcome: 'Done.' } as const
    const settled = await door.run(ref, {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      change: tasks.map(task => ({ task, fields })),
    })
    seq = settled.conversation.seq
  }
  return ref
}

let changes = 0
async function sequence(door: Door, ref: Ref, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await door.run(ref, change((changes += 1)))
}

function repeat(count: number, work: () => void): void {
  for (let index = 0; index < count; index += 1) work()
}
