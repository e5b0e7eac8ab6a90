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

const ROUNDS = 15
const TASKS = 20
/** Warm-up plans before the measured ones. */
const BEFORE = 10
const LATER = 5

const PLANS = 200
const SMALL = 5
/** Warm-up rounds: code is compiled and files are cached. */
const WARM_UP = 100
const WARM_UP_PROCESSES = 5
/** Plans compared at the start and at the end. */
const FEW = 5
/** Noise between two medians of five on a busy machine. */
const NOISE = 1.1

export async function benchPlan({ ours, bare, bareNormal }: Contenders, folder: Folder): Promise<void> {
  const contenders = [ours, bare, bareNormal]
  const cold: number[][] = []
  const warm: number[][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const sessions = await Promise.all(contenders.map(contender => connect(contender, folder(contender))))
    const inTurn = [...sessions.entries()]
    // Interleaved in changing order, so that noise affects all alike.
    for (let plan = 0; plan < BEFORE + LATER; plan += 1) {
      const took: number[] = []
      for (const [index, session] of (round + plan) % 2 === 0 ? inTurn : inTurn.toReversed()) {
        took[index] = await workThrough(session, titlesOf(`${plan}`, TASKS))
      }
      if (plan === 0) cold.push(took)
      if (plan >= BEFORE) warm.push(took)
    }
    await Promise.all(sessions.map(session => session.close()))
  }
  printTable(`A plan of ${TASKS}, from create to the last completion: ${TASKS + 1} calls, each flushed (FULL)`, [
    beside('the first of a process', cold, 1, 'FULL', 1.3),
    beside('after ten more', warm, 1, 'FULL', 1.3),
    beside('the first, beside one without flushes', cold, 2, 'NORMAL'),
    beside('after ten more, beside the same', warm, 2, 'NORMAL'),
  ])
}

function beside(what: string, rounds: readonly number[][], other: number, sync: string, goal?: number): Line {
  const of = (index: number): number => median(rounds.map(took => took[index] ?? Number.NaN))
  const ratio = median(rounds.map(took => (took[0] ?? Number.NaN) / (took[other] ?? Number.NaN)))
  return {
    what,
    ours: millis(of(0)),
    beside: `${millis(of(other))} bare, ${sync}`,
    ratio: times(ratio),
    goal: goal === undefined ? '' : `under ${times(goal)}`,
    met: goal === undefined ? undefined : ratio < goal,
  }
}

/** 200 plans in one data folder: shows whether the last are slower than the first. */
export async function benchMany({ ours, bare }: Contenders, folder: Folder): Promise<void> {
  const apart = await processEach([ours, bare], folder)
  const lasting: Growth[][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const fresh: Folder = contender => `${folder(contender)} ${round}`
    const server = await servedFolder(fresh(ours))
    try {
      lasting.push(await oneProcess([ours, bare], fresh))
    } finally {
      await server.end()
    }
  }
  printTable(`${PLANS} plans of ${SMALL} on one data folder: the first five → the last five`, [
    growing('one process per plan, from spawn', [apart.map(({ whole }) => whole)]),
    growing('one process per plan, calls only', [apart.map(({ calls }) => calls)]),
    growing(`one process, ${ROUNDS} rounds`, lasting),
  ])
}

interface Growth {
  readonly first: number
  readonly last: number
}

/** The bare server does not slow down, so its change is the machine's noise. */
function growing(what: string, rounds: readonly (readonly Growth[])[]): Line {
  const of = (index: number, pick: (growth: Growth) => number): number =>
    median(rounds.flatMap(round => round[index] ?? []).map(pick))
  const shown = (index: number): string =>
    `${millis(of(index, each => each.first))} → ${millis(of(index, each => each.last))}`
  const [mine = 0, theirs = 0] = [0, 1].map(index => of(index, ({ first, last }) => last / first))
  return {
    what,
    ours: shown(0),
    beside: `${shown(1)} bare`,
    ratio: `${times(mine)} (bare ${times(theirs)})`,
    goal: `no slower (within ${times(NOISE)}, or of bare)`,
    met: mine <= NOISE * Math.max(1, theirs),
  }
}

async function processEach(
  contenders: readonly Contender[],
  folder: Folder,
): Promise<{ whole: Growth; calls: Growth }[]> {
  const whole: number[][] = contenders.map(() => [])
  const calls: number[][] = contenders.map(() => [])
  for (let plan = 0; plan < WARM_UP_PROCESSES + PLANS; plan += 1) {
    for (const [index, contender] of contenders.entries()) {
      const started = performance.now()
      const session = await connect(contender, folder(contender))
      calls[index]?.push(await workThrough(session, titlesOf(`${plan}`, SMALL)))
      whole[index]?.push(performance.now() - started)
      await session.close()
    }
  }
  return contenders.map((_, index) => ({
    whole: growth(whole[index] ?? [], WARM_UP_PROCESSES),
    calls: growth(calls[index] ?? [], WARM_UP_PROCESSES),
  }))
}

async function oneProcess(contenders: readonly Contender[], folder: Folder): Promise<Growth[]> {
  const sessions = await Promise.all(contenders.map(contender => connect(contender, folder(contender))))
  const took: number[][] = contenders.map(() => [])
  for (let plan = 0; plan < WARM_UP + PLANS; plan += 1) {
    for (const [index, session] of sessions.entries()) {
      took[index]?.push(await workThrough(session, titlesOf(`${plan}`, SMALL)))
    }
  }
  await Promise.all(sessions.map(session => session.close()))
  return took.map(all => growth(all, WARM_UP))
}

const growth = (all: readonly number[], warmUp: number): Growth => ({
  first: median(all.slice(warmUp, warmUp + FEW)),
  last: median(all.slice(-FEW)),
})
