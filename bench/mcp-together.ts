import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connect, type Contender, type Contenders, type Folder, Refused, titlesOf } from './mcp-servers.ts'
import { type Line, printTable } from './table.ts'

const PLANS = 200
const TASKS = 5

/** A task that a server acknowledged, by its unique title. */
interface Acknowledged {
  readonly created: Map<string, number>
  readonly settled: Set<string>
  refused: number
}

interface Kept {
  readonly conversation: string
  readonly id: number
  readonly title: string
  readonly isSettled: boolean
}

interface Outcome {
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly refused: number
  readonly seconds: number
}

export async function benchTogether({ ours, bare }: Contenders, folder: Folder): Promise<void> {
  const lines: Line[] = []
  for (const session of [undefined, 'shared']) {
    const mine = await together(ours, folder(ours), session, keptByOurs)
    const theirs = await together(bare, folder(bare), session, keptByBare)
    lines.push({
      what: session ? 'in the same conversation' : 'in two conversations',
      ours: said(mine),
      beside: `${said(theirs)} bare`,
      ratio: `${(mine.seconds / theirs.seconds).toFixed(2)}×`,
      goal: 'none lost, none doubled, none refused',
      met: mine.lost + mine.doubled + mine.refused === 0 && mine.acknowledged === 2 * PLANS * TASKS,
    })
  }
  printTable(`Two servers on one data folder, ${PLANS} plans of ${TASKS} each at once: what was acknowledged`, lines)
}

const said = ({ acknowledged, lost, doubled, refused, seconds }: Outcome): string =>
  `${acknowledged} tasks in ${seconds.toFixed(1)} s, ${lost} lost, ${doubled} doubled, ${refused} refused;`

async function together(
  contender: Contender,
  data: string,
  session: string | undefined,
  read: (data: string) => Kept[],
): Promise<Outcome> {
  const sessions = await Promise.all(['a', 'b'].map(() => connect(contender, data, session)))
  const before = read(data).length
  const started = performance.now()
  const told = await Promise.all(
    sessions.map(async (each, index) => {
      const acknowledged: Acknowledged = { created: new Map(), settled: new Set(), refused: 0 }
      for (let plan = 0; plan < PLANS; plan += 1) {
        const titles = titlesOf(`${plan} of ${session ?? 'two'} ${index}`, TASKS)
        const ids = await unlessRefused(acknowledged, () => each.plan(titles))
        for (const [row, id] of (ids ?? []).entries()) {
          const title = titles[row] ?? ''
          acknowledged.created.set(title, id)
          const isDone = await unlessRefused(acknowledged, () => each.settle(id, 'Done.').then(() => true))
          if (isDone) acknowledged.settled.add(title)
        }
      }
      return acknowledged
    }),
  )
  const seconds = (performance.now() - started) / 1_000
  await Promise.all(sessions.map(each => each.close()))
  return { ...compared(told, read(data), before), seconds }
}

async function unlessRefused<T>(acknowledged: Acknowledged, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    acknowledged.refused += 1
    return undefined
  }
}

/** Lost: acknowledged but missing or different. Doubled: more than acknowledged, or with another task's id. */
function compared(told: readonly Acknowledged[], kept: readonly Kept[], before: number): Omit<Outcome, 'seconds'> {
  const byTitle = Map.groupBy(kept, ({ title }) => title)
  const isLost = ({ settled }: Acknowledged, [title, id]: [string, number]): boolean =>
    !byTitle.get(title)?.some(task => task.id === id && task.isSettled === settled.has(title))
  const created = told.flatMap(one => [...one.created])
  const fresh = kept.length - before
  const ids = new Set(kept.map(({ conversation, id }) => `${conversation} ${id}`))
  return {
    acknowledged: created.length,
    lost: told.flatMap(one => [...one.created].filter(each => isLost(one, each))).length,
    doubled: Math.max(0, fresh - created.length) + (kept.length - ids.size),
    refused: told.reduce((sum, { refused }) => sum + refused, 0),
  }
}

function keptByOurs(data: string): Kept[] {
  const sql = 'SELECT conversation_id, data FROM tasks JOIN events USING (conversation_id, seq)'
  return rowsOf(join(data, 'runsheet.db'), sql).map(row => {
    const { task } = JSON.parse(String(row['data'])) as { task: { number: number; title: string; status: string } }
    return {
      conversation: String(row['conversation_id']),
      id: task.number,
      title: task.title,
      isSettled: task.status === 'completed',
    }
  })
}

function keptByBare(data: string): Kept[] {
  return rowsOf(join(data, 'bare.db'), 'SELECT session, id, title, status FROM tasks').map(row => ({
    conversation: String(row['session']),
    id: Number(row['id']),
    title: String(row['title']),
    isSettled: row['status'] === 'done',
  }))
}

/** Reads the file directly, not through the servers. */
function rowsOf(file: string, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(file)
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}
