import { type Memory, startWorker } from './server-process.ts'
import { type Line, printTable } from './table.ts'

const WAITING = 10_000
const IDLE_MS = 5_000
const MOST_MB = 100

interface Idle {
  readonly busy: number
  /** Polls for deadlines. */
  readonly looks: number
  readonly others: number
}

/** Cost of calls that wait for a person: memory, and CPU while idle. */
export async function benchWaiting(): Promise<Line[]> {
  const host = startWorker('server-host.ts', { kind: 'ours', store: 'sqlite' })
  try {
    // As many answered calls come first, because a working process is larger than a fresh one.
    await host.ask('plans', { count: WAITING, review: false })
    const before = await host.ask<Memory>('memory')
    const without = await host.ask<Idle>('idle', IDLE_MS)
    await host.ask('plans', { count: WAITING, review: true })
    const after = await host.ask<Memory>('memory')
    const meanwhile = await host.ask<Idle>('idle', IDLE_MS)
    const more = (after.rss - before.rss) / 1e6
    const lines: Line[] = [
      {
        what: 'memory (RSS)',
        ours: megabytes(after.rss),
        beside: `${megabytes(before.rss)} without`,
        ratio: `+${more.toFixed(0)} MB`,
        goal: `at most +${MOST_MB} MB`,
        met: more <= MOST_MB,
      },
      {
        what: 'heap and buffers after a collection',
        ours: megabytes(after.heap),
        beside: `${megabytes(before.heap)} without`,
        ratio: `+${((after.heap - before.heap) / 1e6).toFixed(0)} MB`,
        goal: '',
        met: undefined,
      },
      {
        what: `work in ${IDLE_MS / 1_000} s: share of a core`,
        ours: percent(meanwhile.busy),
        beside: `${percent(without.busy)} without`,
        ratio: '',
        goal: 'no more than without',
        met: meanwhile.busy <= without.busy + 0.01,
      },
      {
        what: `work in ${IDLE_MS / 1_000} s: looks for what is due`,
        ours: String(meanwhile.looks),
        beside: `${without.looks} without`,
        ratio: '',
        goal: 'one in 2 s',
        met: meanwhile.looks <= IDLE_MS / 2_000 + 1,
      },
      {
        what: `work in ${IDLE_MS / 1_000} s: anything else asked of the store`,
        ours: String(meanwhile.others),
        beside: `${without.others} without`,
        ratio: '',
        goal: 'nothing',
        met: meanwhile.others === 0,
      },
    ]
    printTable(
      `${WAITING.toLocaleString('en')} calls that wait for a person, on SQLite, beside the same process after as many that did not`,
      lines,
    )
    return lines
  } finally {
    await host.end()
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
