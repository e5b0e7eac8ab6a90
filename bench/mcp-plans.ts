import {
  connect,
  type Contender,
  type Contenders,
  type Folder,
  servedFolder,
  titlesOf,
  workThrough,
} from './mcp-servers.ts'
import { type Line, median, millis, printTable, times, turnByTurn } from './table.ts'

const ROUNDS = 15
const TASKS = 20
/** How many plans a process has done that counts as warm. */
const BEFORE = 10

const PLANS = 200
const SMALL = 5
/** Until the code of a process that lasts is compiled, and the files of one that does not are in memory. */
const WARM_UP = 100
const WARM_UP_PROCESSES = 5
/** Of the first plans and of the last. */
const FEW = 5
/** What two medians of five differ by on a machine that does other things as well. */
const NOISE = 1.1

/** A plan of twenty: the first of a process, as a conversation begins, and a later one. */
export async function benchPlan({ ours, bare, bareNormal }: Contenders, folder: Folder): Promise<void> {
  const later: Record<string, number[]> = {}
  const both = (contender: Contender) => async () => {
    const session = await connect(contender, folder(contender))
    try {
      const cold = await workThrough(session, titlesOf('first', TASKS))
      for (let plan = 0; plan < BEFORE; plan += 1) await workThrough(session, titlesOf(`before ${plan}`, TASKS))
      ;(later[contender.name] ??= []).push(await workThrough(session, titlesOf('later', TASKS)))
      return cold
    } finally {
      await session.close()
    }
  }
  const figures = await turnByTurn(ROUNDS, { ours: both(ours), bare: both(bare), normal: both(bareNormal) })
  // The first of each was a warm-up.
  const warm = (contender: Contender): number[] => (later[contender.name] ?? []).slice(-ROUNDS)
  const warmRatio = (theirs: Contender): number =>
    median(warm(ours).map((took, round) => took / (warm(theirs)[round] ?? Number.NaN)))
  const line = (what: string, mine: number, beside: string, ratio: number, counts: boolean): Line => ({
    what,
    ours: millis(mine),
    beside,
    ratio: times(ratio),
    goal: counts ? 'under 1.30×' : '',
    met: counts ? ratio < 1.3 : undefined,
  })
  const cold = figures.median('ours')
  const hot = median(warm(ours))
  const said = (ms: number, sync: string): string => `${millis(ms)} bare, ${sync}`
  printTable(`A plan of ${TASKS}, from create to the last completion: ${TASKS + 1} calls, each flushed (FULL)`, [
    line('the first of a process', cold, said(figures.median('bare'), 'FULL'), figures.ratio('ours', 'bare'), true),
    line('after ten more', hot, said(median(warm(bare)), 'FULL'), warmRatio(bare), true),
    line(
      'the first, beside one that does not flush',
      cold,
      said(figures.median('normal'), 'NORMAL'),
      figures.ratio('ours', 'normal'),
      false,
    ),
    line(
      'after ten more, beside the same',
      hot,
      said(median(warm(bareNormal)), 'NORMAL'),
      warmRatio(bareNormal),
      false,
    ),
  ])
}

/** Two hundred plans on one data folder: whether the last ones take longer than the first. */
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
    growing('a process for each: from its spawn', [apart.map(({ whole }) => whole)]),
    growing('a process for each: the calls alone', [apart.map(({ calls }) => calls)]),
    growing(`one process and conversation, ${ROUNDS} times over`, lasting),
  ])
}

/** The first few and the last few. */
interface Growth {
  readonly first: number
  readonly last: number
}

/** The bare one has nothing to grow slower by: what it shows is the machine. */
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
