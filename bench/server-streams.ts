import type { HostOrder, Listening } from './server-host.ts'
import { type Memory, startWorker, type Worker } from './server-process.ts'
import { type Line, median, perSecond, printTable, times } from './table.ts'

const READERS = 1_000
const ROUNDS = 5
/** Below the limit for slow readers, so that none is disconnected. */
const BURST = 50
const STEADY = { count: 40, everyMs: 50 }
const STEADY_ROUNDS = 3
const GOAL = 0.7

interface Arrived {
  readonly at: number
  readonly bytes: number
  readonly busy: number
  readonly closed: number
}

class Hall {
  readonly #host: Worker
  readonly #readers: Worker
  /** Per idle reader. */
  readonly memory: Memory

  private constructor(host: Worker, readers: Worker, memory: Memory) {
    this.#host = host
    this.#readers = readers
    this.memory = memory
  }

  static async open(order: HostOrder): Promise<Hall> {
    const host = startWorker('server-host.ts', order)
    const listening = await host.ask<Listening>('listening')
    const readers = startWorker('server-readers.ts', { ...listening, count: READERS })
    const before = await host.ask<Memory>('memory')
    await readers.ask('open')
    const after = await host.ask<Memory>('memory')
    const memory = { rss: (after.rss - before.rss) / READERS, heap: (after.heap - before.heap) / READERS }
    return new Hall(host, readers, memory)
  }

  /** Deliveries per second of a burst, and how busy both sides were. */
  async burst(): Promise<{ rate: number; bytes: number; readers: number }> {
    await this.#readers.ask('expect', { events: BURST, timed: false })
    const start = await this.#host.ask<number>('burst', BURST)
    const { at, bytes, busy } = await this.#arrived()
    return { rate: ((BURST * READERS) / (at - start)) * 1_000, bytes, readers: busy }
  }

  async steady(): Promise<{ p50: number; p99: number; readers: number }> {
    await this.#readers.ask('expect', { events: STEADY.count, timed: true })
    const committed = await this.#host.ask<number[]>('steady', STEADY)
    const { busy } = await this.#arrived()
    return { ...(await this.#readers.ask<{ p50: number; p99: number }>('latency', committed)), readers: busy }
  }

  async close(): Promise<void> {
    await this.#readers.end()
    await this.#host.end()
  }

  async #arrived(): Promise<Arrived> {
    const arrived = await this.#readers.ask<Arrived>('arrived')
    if (arrived.closed > 0) throw new Error(`${arrived.closed} readers were cut off`)
    return arrived
  }
}

export async function benchStreams(): Promise<Line[]> {
  const halls = {
    bare: await Hall.open({ kind: 'bare', store: 'memory' }),
    joined: await Hall.open({ kind: 'joined', store: 'memory' }),
    memory: await Hall.open({ kind: 'ours', store: 'memory' }),
    sqlite: await Hall.open({ kind: 'ours', store: 'sqlite' }),
  }
  try {
    const bursts = await inTurn(ROUNDS, ['bare', 'memory', 'joined', 'sqlite'], name => halls[name].burst())
    const steady = await inTurn(STEADY_ROUNDS, ['bare', 'memory', 'sqlite'], name => halls[name].steady())
    const lines: Line[] = []
    for (const store of ['memory', 'sqlite'] as const) {
      lines.push(burstLine(`bursts of ${BURST} events, ${store}`, bursts, store, 'bare'))
      lines.push(burstLine(`bursts of ${BURST} events, ${store}`, bursts, store, 'joined'))
    }
    for (const store of ['memory', 'sqlite'] as const) lines.push(...steadyLines(steady, store))
    for (const [which, name] of [
      ['rss', 'RSS'],
      ['heap', 'heap'],
    ] as const) {
      lines.push({
        what: `memory of an idle reader, ${name}`,
        ours: kilobytes(halls.memory.memory[which]),
        beside: `${kilobytes(halls.bare.memory[which])} bare`,
        ratio: times(halls.memory.memory[which] / halls.bare.memory[which]),
        goal: '',
        met: undefined,
      })
    }
    printTable(
      `Events to ${READERS.toLocaleString('en')} readers of a conversation, beside a bare node:http server`,
      lines,
    )
    const busy = (['bare', 'joined', 'memory', 'sqlite'] as const).map(
      name => `${name} ${Math.round(median(bursts[name].map(round => round.readers)) * 100)} %`,
    )
    console.log(
      'Bare: one write for each event and reader; joined: one for each burst and reader. ' +
        `An event is ${kilobytes((bursts.memory[0]?.bytes ?? 0) / READERS / BURST)}.\n` +
        `Of a core, the process of the readers used in bursts: ${busy.join(', ')}.`,
    )
    return lines
  } finally {
    for (const hall of Object.values(halls)) await hall.close()
  }
}

type Halls = 'bare' | 'joined' | 'memory' | 'sqlite'

async function inTurn<T>(
  rounds: number,
  names: readonly Halls[],
  work: (name: Halls) => Promise<T>,
): Promise<Record<Halls, T[]>> {
  const figures: Record<Halls, T[]> = { bare: [], joined: [], memory: [], sqlite: [] }
  for (let round = -1; round < rounds; round += 1) {
    for (const name of names) {
      const figure = await work(name)
      // Negative rounds are warm-up.
      if (round >= 0) figures[name].push(figure)
    }
  }
  return figures
}

function burstLine(
  what: string,
  rounds: Readonly<Record<Halls, readonly { readonly rate: number }[]>>,
  store: 'memory' | 'sqlite',
  peer: 'bare' | 'joined',
): Line {
  const ratio = median(rounds[store].map(({ rate }, round) => rate / (rounds[peer][round]?.rate ?? Number.NaN)))
  const rate = (name: Halls): string => perSecond(median(rounds[name].map(each => each.rate)))
  const goal = peer === 'bare'
  return {
    what,
    ours: rate(store),
    beside: `${rate(peer)} ${peer}`,
    ratio: times(ratio),
    goal: goal ? `at least ${times(GOAL)}` : '',
    met: goal ? ratio >= GOAL : undefined,
  }
}

function steadyLines(
  rounds: Readonly<Record<Halls, readonly { readonly p50: number; readonly p99: number }[]>>,
  store: 'memory' | 'sqlite',
): Line[] {
  return (['p50', 'p99'] as const).map(which => {
    const ratio = median(rounds[store].map((each, round) => each[which] / (rounds.bare[round]?.[which] ?? Number.NaN)))
    const figure = (name: Halls): string => `${median(rounds[name].map(each => each[which])).toFixed(1)} ms`
    const goal = which === 'p99'
    return {
      what: `commit to arrival, ${which}, ${1_000 / STEADY.everyMs} events/s, ${store}`,
      ours: figure(store),
      beside: `${figure('bare')} bare`,
      ratio: times(ratio),
      goal: goal ? `within ${times(1 / GOAL)}` : '',
      met: goal ? ratio <= 1 / GOAL : undefined,
    }
  })
}

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`
