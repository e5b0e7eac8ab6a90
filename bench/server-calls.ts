import type { HostOrder, Listening } from './server-host.ts'
import { startWorker, type Worker } from './server-process.ts'
import { type Line, median, perSecond, printTable, times } from './table.ts'

const ROUNDS = 7
const GOAL = 0.8

/** A server with those who call it. */
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
      [64, 3_000],
      [1, 600],
    ] as const) {
      const ask = async ({ callers }: typeof ours): Promise<number> => {
        const { rate, busy } = await callers.ask<{ rate: number; busy: number }>('calls', { connections, count })
        busiest = Math.max(busiest, busy)
        return rate
      }
      await ask(bare)
      await ask(ours)
      const rounds: { ours: number; theirs: number }[] = []
      for (let round = 0; round < ROUNDS; round += 1) rounds.push({ theirs: await ask(bare), ours: await ask(ours) })
      const ratio = median(rounds.map(round => round.ours / round.theirs))
      lines.push({
        what: `AddTask over ${connections === 1 ? 'one connection' : `${connections} connections`}`,
        ours: perSecond(median(rounds.map(round => round.ours))),
        beside: `${perSecond(median(rounds.map(round => round.theirs)))} bare`,
        ratio: times(ratio),
        goal: `at least ${times(GOAL)}`,
        met: ratio >= GOAL,
      })
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
