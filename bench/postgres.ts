import { Client } from 'pg'
import { type Door, openDoor, taskPage } from '../src/engine/door/door.ts'
import { openPostgresStore } from '../src/store/postgres/store.ts'
import { freshDatabase, startPostgres } from '../test/support/postgres.ts'
import { change, create, planned } from './plan.ts'
import { type Line, perSecond, printTable, rate, sideBySide, times } from './table.ts'
import { SCHEMA } from '../src/store/postgres/schema.ts'

const ROUNDS = 5

interface Bare {
  readonly transact: (events: number) => Promise<void>
  readonly read: (conversation: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** A bare transaction of the same rows in the same schema, with prepared statements. */
async function barePostgres(url: string): Promise<Bare> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const data = 'x'.repeat(640)
  const at = new Date().toISOString()
  const ref = ['local', 'bare']
  let seq = 0
  await client.query(
    `INSERT INTO ${SCHEMA}.conversations (tenant, conversation, seq, created_at, updated_at) VALUES ('local', 'bare', 0, $1, $1)`,
    [at],
  )
  return {
    transact: async events => {
      const first = seq + 1
      seq += events
      const seqs = Array.from({ length: events }, (_, index) => first + index)
      const ids = seqs.map(each => (events === 1 ? 'task' : `task-${each}`))
      await client.query('BEGIN')
      await client.query({
        name: 'lock',
        text: `SELECT seq, clock_timestamp() FROM ${SCHEMA}.conversations WHERE tenant = $1 AND conversation = $2 FOR UPDATE`,
        values: ref,
      })
      await client.query({
        name: 'events',
        text: `INSERT INTO ${SCHEMA}.events (tenant, conversation, seq, v, type, turn_id, timestamp, task, data)
          SELECT $1, $2, seq, 1, 'task_changed', 't1', $3, 'task', $4 FROM unnest($5::int[]) AS seq`,
        values: [...ref, at, data, seqs],
      })
      await client.query({
        name: 'tasks',
        text: `INSERT INTO ${SCHEMA}.tasks (tenant, conversation, id, seq, removed)
          SELECT $1, $2, id, seq, false FROM unnest($3::text[], $4::int[]) AS task (id, seq)
          ON CONFLICT (tenant, id) DO UPDATE SET seq = excluded.seq, removed = excluded.removed`,
        values: [...ref, ids, seqs],
      })
      await client.query({
        name: 'conversation',
        text: `UPDATE ${SCHEMA}.conversations SET seq = $3, updated_at = $4, changed_at = date_trunc('second', clock_timestamp())
          WHERE tenant = $1 AND conversation = $2`,
        values: [...ref, seq, at],
      })
      await client.query('COMMIT')
    },
    read: async conversation => {
      const { rows } = await client.query<{ data: string }>({
        name: 'list',
        text: `SELECT data FROM ${SCHEMA}.tasks JOIN ${SCHEMA}.events USING (tenant, conversation, seq)
          WHERE tenant = 'local' AND conversation = $1 AND NOT removed ORDER BY seq`,
        values: [conversation],
      })
      return rows.map(row => JSON.parse(row.data) as unknown)
    },
    close: () => client.end(),
  }
}

export async function benchPostgres(): Promise<void> {
  const server = await startPostgres({ fsync: true })
  const database = await freshDatabase(server.url)
  const door = openDoor({ store: await openPostgresStore({ url: database.url }) })
  const bare = await barePostgres(database.url)
  try {
    printTable('PostgreSQL 18 (fsync on), beside bare SQL that writes the same rows on one connection', [
      await oneChange(door, bare),
      await batch(door, bare),
      await reading(door, bare),
      await together(door, bare),
    ])
  } finally {
    await bare.close()
    await door.close()
    await server.stop()
  }
}

async function oneChange(door: Door, bare: Bare): Promise<Line> {
  const ref = await planned(door, 'one', 20)
  const count = 400
  let round = 0
  const figures = await sideBySide(
    ROUNDS,
    () => rate(count, () => repeat(count, () => door.run(ref, change((round += 1))))),
    () => rate(count, () => repeat(count, () => bare.transact(1))),
  )
  return line('one change, one at a time', figures, 0.5)
}

async function batch(door: Door, bare: Bare): Promise<Line> {
  const count = 50
  let conversation = 0
  const figures = await sideBySide(
    ROUNDS,
    async () => {
      const refs = await Promise.all(
        Array.from({ length: count }, () => planned(door, `batch-${(conversation += 1)}`, 0)),
      )
      return rate(count, async () => {
        for (const ref of refs) await door.run(ref, create(door, 20))
      })
    },
    () => rate(count, () => repeat(count, () => bare.transact(20))),
  )
  return line('a batch of 20 tasks', figures)
}

async function reading(door: Door, bare: Bare): Promise<Line> {
  const ref = await planned(door, 'reading', 20)
  const count = 500
  const figures = await sideBySide(
    ROUNDS,
    () => rate(count, () => repeat(count, async () => taskPage(await door.read(ref), {}, { limit: 200 }))),
    () => rate(count, () => repeat(count, () => bare.read(ref.conversation))),
  )
  return line('reading a list of 20', figures)
}

async function together(door: Door, bare: Bare): Promise<Line> {
  const refs = await Promise.all(Array.from({ length: 100 }, (_, index) => planned(door, `caller-${index}`, 5)))
  const each = 10
  let round = 0
  const figures = await sideBySide(
    ROUNDS,
    () =>
      rate(100 * each, async () => {
        await Promise.all(refs.map(ref => repeat(each, () => door.run(ref, change((round += 1))))))
      }),
    () => rate(400, () => repeat(400, () => bare.transact(1))),
  )
  return { ...line('100 callers at once', figures), beside: `${perSecond(figures.theirs)} bare, one at a time` }
}

function line(
  what: string,
  { ours, theirs, ratio }: { ours: number; theirs: number; ratio: number },
  goal?: number,
): Line {
  return {
    what,
    ours: perSecond(ours),
    beside: `${perSecond(theirs)} bare`,
    ratio: times(ratio),
    goal: goal === undefined ? '' : `at least ${goal.toFixed(2)}×`,
    met: goal === undefined ? undefined : ratio >= goal,
  }
}

async function repeat(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) await work()
}
