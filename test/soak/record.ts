import { setTimeout as delay } from 'node:timers/promises'
import { count, grewTo, isFlat, type Latencies, megabytes, millis, type Tolerance, type Verdict } from './figures.ts'
import type { Node } from './nodes.ts'
import type { World } from './world.ts'

type Sample = Awaited<ReturnType<Node['sample']>>

/** Figures of a server, and how much each may grow. */
const FIGURES: readonly {
  readonly what: string
  readonly of: (sample: Sample) => number | undefined
  readonly may: Tolerance
  readonly unit: (value: number) => string
}[] = [
  {
    what: 'heap after a collection',
    of: ({ heap }) => heap,
    may: { share: 0.05, amount: 4 * 2 ** 20 },
    unit: megabytes,
  },
  { what: 'resident memory', of: ({ rss }) => rss, may: { share: 0.1, amount: 20 * 2 ** 20 }, unit: megabytes },
  { what: 'file handles', of: ({ files }) => files, may: { share: 0.1, amount: 20 }, unit: count },
  { what: 'active resources', of: ({ resources }) => resources, may: { share: 0.1, amount: 20 }, unit: count },
  { what: 'timers', of: ({ timers }) => timers, may: { share: 0.1, amount: 10 }, unit: count },
  { what: 'event-loop delay, 99 %', of: ({ delay: { p99 } }) => p99, may: { share: 0.5, amount: 10 }, unit: millis },
]
/** Idle again: only what is kept on purpose may be left. */
const LEFT: Tolerance = { share: 0, amount: 10 }
const LATENCY = { median: { share: 0.5, amount: 5 }, p95: { share: 0.5, amount: 25 } } as const
/** Clients need a moment to notice that they are gone, and the server one for them. */
const SETTLE_MS = 12_000

/** What was measured, window by window. */
export class Record {
  readonly #world: World
  readonly #samples = new Map<Node, Sample[]>()
  readonly #latencies: ReturnType<Latencies['take']>[] = []
  readonly #idle: { readonly before: Map<Node, Sample>; readonly after: Map<Node, Sample> } = {
    before: new Map(),
    after: new Map(),
  }
  #from = 0

  constructor(world: World) {
    this.#world = world
    for (const node of world.nodes) this.#samples.set(node, [])
  }

  /** Samples servers without load. */
  async idle(when: 'before' | 'after'): Promise<void> {
    if (when === 'after') await delay(SETTLE_MS)
    for (const node of this.#world.nodes) this.#idle[when].set(node, await node.sample())
  }

  /** Forgets the warm-up. */
  async begin(): Promise<void> {
    this.#world.latencies.take()
    this.#from = this.#world.sessions
    for (const node of this.#world.nodes) await node.sample()
  }

  /** Ends a window; returns a line about it. */
  async window(): Promise<string> {
    const latencies = this.#world.latencies.take()
    this.#latencies.push(latencies)
    const parts: string[] = []
    for (const [node, samples] of this.#samples) {
      const sample = await node.sample()
      samples.push(sample)
      const figures = FIGURES.map(({ of, unit }) => unit(of(sample) ?? Number.NaN))
      parts.push(`${node.name}: ${figures.join(', ')}`)
    }
    const answers = [...latencies].map(([what, { median, p95 }]) => `${what} ${millis(median)}/${millis(p95)}`)
    return [`${String(this.#latencies.length).padStart(3)} `, ...parts, answers.join(', ')].join('  ')
  }

  verdicts(codes: readonly (number | null)[]): Verdict[] {
    const { nodes, failures } = this.#world
    const verdicts = nodes.flatMap(node => [...this.#flat(node), ...this.#left(node)])
    for (const what of new Set(this.#latencies.flatMap(latencies => [...latencies.keys()]))) {
      for (const key of ['median', 'p95'] as const) {
        const series = this.#latencies.flatMap(latencies => latencies.get(what)?.[key] ?? [])
        verdicts.push(isFlat(`${what}: latency, ${key}`, series, LATENCY[key], millis))
      }
    }
    const errors = nodes.reduce((sum, node) => sum + node.errors().length, 0)
    const failed = [...failures.values()].reduce((sum, each) => sum + each, 0)
    const none: Tolerance = { share: 0, amount: 0 }
    return [
      ...verdicts,
      grewTo('errors in the log', 0, errors, none, count),
      grewTo('unexpected answers', 0, failed, none, count),
      grewTo('exit codes other than 0', 0, codes.filter(code => code !== 0).length, none, count),
    ]
  }

  /** What the load was, and what went wrong. */
  summary(): string {
    const { done, failures, sessions, leftOut, nodes } = this.#world
    const answers = new Map<string, number>()
    for (const latencies of this.#latencies) {
      for (const [what, figures] of latencies) answers.set(what, (answers.get(what) ?? 0) + figures.count)
    }
    return [
      `done, with the warm-up: ${list(done)}; left out for lack of room: ${count(leftOut)}`,
      `measured: ${count(sessions - this.#from)} new conversations; answers: ${list(answers)}`,
      ...[...failures].map(([what, times]) => `unexpected, ${times} times: ${what}`),
      ...nodes.flatMap(node =>
        node
          .errors()
          .slice(0, 20)
          .map(line => `${node.name} logged: ${line}`),
      ),
    ].join('\n')
  }

  #flat(node: Node): Verdict[] {
    const samples = this.#samples.get(node) ?? []
    return FIGURES.flatMap(({ what, of, may, unit }) => {
      const series = samples.flatMap(sample => of(sample) ?? [])
      return series.length === 0 ? [] : [isFlat(`${node.name}: ${what}`, series, may, unit)]
    })
  }

  /** Files and timers after the load, beside those before it. */
  #left(node: Node): Verdict[] {
    const [before, after] = [this.#idle.before.get(node), this.#idle.after.get(node)]
    if (!before || !after) return []
    const verdict = (what: string, first: number, last: number): Verdict =>
      grewTo(`${node.name}: ${what}, idle before and after`, first, last, LEFT, count)
    return [
      ...(before.files === undefined ? [] : [verdict('file handles', before.files, after.files ?? Number.NaN)]),
      verdict('active resources', before.resources, after.resources),
      verdict('timers', before.timers, after.timers),
    ]
  }
}

const list = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([what, times]) => `${count(times)} ${what}`).join(', ')
