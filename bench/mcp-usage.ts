import { readFileSync } from 'node:fs'
import {
  connect,
  type Contender,
  type Contenders,
  type Folder,
  servedFolder,
  titlesOf,
  workThrough,
} from './mcp-servers.ts'
import { type Line, median, millis, printTable, times } from './table.ts'

const ROUNDS = 5
const PLANS = 200
const TASKS = 20
/** Clock ticks per second in /proc: the same on every Linux that Node supports. */
const TICKS = 100

interface Usage {
  readonly plansPerSecond: number
  readonly cpuSeconds: number
  readonly peakMegabytes: number
}

/** 200 plans on one server, and the first plan in a fresh folder. */
export async function benchUsage({ ours, bare }: Contenders, folder: Folder): Promise<void> {
  const usage: { mine: Usage; theirs: Usage }[] = []
  const first: { mine: number; theirs: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const fresh: Folder = contender => `${folder(contender)} ${round}`
    const server = await servedFolder(fresh(ours))
    try {
      first.push({ theirs: await firstPlan(bare, fresh(bare)), mine: await firstPlan(ours, fresh(ours)) })
      usage.push({ theirs: await manyPlans(bare, fresh(bare)), mine: await manyPlans(ours, fresh(ours)) })
    } finally {
      await server.end()
    }
  }
  const of = (pick: (usage: Usage) => number): Figures =>
    figures(usage.map(({ mine, theirs }) => ({ mine: pick(mine), theirs: pick(theirs) })))
  printTable(`${PLANS} plans of ${TASKS} in a row on one server, ${ROUNDS} times; and the first plan of ${TASKS}`, [
    line(
      'plans per second',
      of(each => each.plansPerSecond),
      value => `${value.toFixed(1)}/s`,
      {
        goal: 'at least 0.70×',
        isMet: ({ ratio }) => ratio >= 0.7,
      },
    ),
    line(
      'peak RSS',
      of(each => each.peakMegabytes),
      value => `${Math.round(value)} MB`,
      {
        goal: 'under 150 MB',
        isMet: ({ mine }) => mine < 150,
      },
    ),
    line(
      'CPU',
      of(each => each.cpuSeconds),
      value => `${value.toFixed(1)} s`,
    ),
    line('the first plan in a fresh folder', figures(first), millis, {
      goal: 'under 1.30×',
      isMet: ({ ratio }) => ratio < 1.3,
    }),
  ])
}

interface Figures {
  readonly mine: number
  readonly theirs: number
  readonly ratio: number
}

const figures = (rounds: readonly { mine: number; theirs: number }[]): Figures => ({
  mine: median(rounds.map(({ mine }) => mine)),
  theirs: median(rounds.map(({ theirs }) => theirs)),
  ratio: median(rounds.map(({ mine, theirs }) => mine / theirs)),
})

function line(
  what: string,
  of: Figures,
  shown: (value: number) => string,
  goal?: { readonly goal: string; readonly isMet: (of: Figures) => boolean },
): Line {
  return {
    what,
    ours: shown(of.mine),
    beside: `${shown(of.theirs)} bare`,
    ratio: times(of.ratio),
    goal: goal?.goal ?? '',
    met: goal?.isMet(of),
  }
}

async function firstPlan(contender: Contender, data: string): Promise<number> {
  const session = await connect(contender, data)
  const took = await workThrough(session, titlesOf('first', TASKS))
  await session.close()
  return took
}

async function manyPlans(contender: Contender, data: string): Promise<Usage> {
  const session = await connect(contender, data)
  const started = performance.now()
  for (let plan = 0; plan < PLANS; plan += 1) await workThrough(session, titlesOf(`${plan}`, TASKS))
  const plansPerSecond = (PLANS / (performance.now() - started)) * 1_000
  const usage = { plansPerSecond, ...processUsage(session.pid) }
  await session.close()
  return usage
}

/** From /proc: Linux only. */
function processUsage(pid: number): Omit<Usage, 'plansPerSecond'> {
  if (process.platform !== 'linux') return { cpuSeconds: Number.NaN, peakMegabytes: Number.NaN }
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Fields 14 and 15 are user and system time; the command name before them may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
    peakMegabytes: Number(peak?.[1]) / 1_024,
  }
}
