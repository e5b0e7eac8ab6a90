import type { HostOrder, Listening } from './server-host.ts'
import { startWorker, type Worker } from './server-process.ts'
import { type Line, median, micros, perSecond, printTable, times } from './table.ts'

/** Many short rounds: a shared disk varies from second to second. */
const ROUNDS = 25
const WARM_UP = 5
const MOST_MS = 10_000
const GOAL = 0.8

interface Figure {
  readonly rate: number
  /** Server CPU per call, in microseconds. */
  readonly work: number
}

async function openDesk(kind: HostOrder['kind']): Promise<{ host: Worker; callers: Worker }> {
  const host = startWorker('server-host.ts', { kind, store: 'sqlite' })
  return { host, callers: startWorker('server-callers.ts', await host.ask<Listening>('listening')) }
}

export async function benchCalls(): Promise<Line[]> {
  const ours = await openDesk('ours')
  const bare = await openDesk('bare')
  try {
    const lines: Line[] = []
    let busiest = 0
    for (const [connections, count] of [
      [64, 1_000],
      [1, 250],
    ] as const) {
      const ask = async ({ host, callers }: typeof ours): Promise<Figure> => {
        const before = await host.ask<number>('work')
        const { rate, busy } = await callers.ask<{ rate: number; busy: number }>('calls', { connections, count })
        busiest = Math.max(busiest, busy)
        return { rate, work: ((await host.ask<number>('work')) - before) / count }
      }
      const rounds: { ours: Figure; bare: Figure }[] = []
      const start = performance.now()
      const isTime = (): boolean => performance.now() - start < MOST_MS
      for (let round = 0; round <= WARM_UP || (round < ROUNDS + WARM_UP && isTime()); round += 1) {
        rounds.push({ bare: await ask(bare), ours: await ask(ours) })
      }
      lines.push(...linesOf(connections, rounds.slice(WARM_UP)))
    }
    printTable('Tool calls over HTTP on SQLite, beside a bare node:http server that makes the same call', lines)
    console.log(`The process of the callers used at most ${Math.round(busiest * 100)} % of a core.`)
    return lines
  } finally {
    for (const { host, callers } of [ours, bare]) {
      await callers.end()
      await host.end()
    }
  }
}

function linesOf(connections: number, rounds: readonly { readonly ours: Figure; readonly bare: Figure }[]): Line[] {
  const what = `AddTask over ${connections === 1 ? 'one connection' : `${connections} connections`}`
  const middle = (side: 'ours' | 'bare', which: keyof Figure): number => median(rounds.map(each => each[side][which]))
  const ratio = median(rounds.map(({ ours, bare }) => ours.rate / bare.rate))
  return [
    {
      what,
      ours: perSecond(middle('ours', 'rate')),
      beside: `${perSecond(middle('bare', 'rate'))} bare`,
      ratio: times(ratio),
      goal: `at least ${times(GOAL)}`,
      met: ratio >= GOAL,
    },
    {
      what: `${what}, work of the server for each`,
      ours: micros(middle('ours', 'work')),
      beside: `${micros(middle('bare', 'work'))} bare`,
      ratio: times(median(rounds.map(({ ours, bare }) => ours.work / bare.work))),
      goal: '',
      met: undefined,
    },
  ]
}
