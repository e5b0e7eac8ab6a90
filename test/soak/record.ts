import { count, millis, type Window } from './figures.ts'
import { FIGURES, type Measured, type NodeSample } from './judge.ts'
import type { Node } from './nodes.ts'
import type { World } from './world.ts'

/** What was measured, window by window. */
export class Record {
  readonly #world: World
  readonly #samples = new Map<Node, NodeSample[]>()
  readonly #windows: Window[] = []
  readonly #idle = { before: new Map<Node, NodeSample>(), after: new Map<Node, NodeSample>() }
  #warmUp = { sessions: 0, done: new Map<string, number>(), leftOut: new Map<string, number>() }

  constructor(world: World) {
    this.#world = world
    for (const node of world.nodes) this.#samples.set(node, [])
  }

  /** Samples servers without load. */
  async idle(when: 'before' | 'after'): Promise<void> {
    for (const node of this.#world.nodes) this.#idle[when].set(node, await node.sample())
  }

  /** Forgets the warm-up. */
  async begin(): Promise<void> {
    const { latencies, sessions, done, leftOut, nodes } = this.#world
    latencies.take()
    this.#warmUp = { sessions, done: new Map(done), leftOut: new Map(leftOut) }
    for (const node of nodes) await node.sample()
  }

  /** Ends a window; returns a line about it. */
  async window(): Promise<string> {
    const latencies = this.#world.latencies.take()
    this.#windows.push(latencies)
    const parts: string[] = []
    for (const [node, samples] of this.#samples) {
      const sample = await node.sample()
      samples.push(sample)
      const figures = FIGURES.map(({ of, unit }) => unit(of(sample) ?? Number.NaN))
      parts.push(`${node.name}: ${figures.join(', ')}`)
    }
    const answers = [...latencies].map(([what, { median, p95 }]) => `${what} ${millis(median)}/${millis(p95)}`)
    return [`${String(this.#windows.length).padStart(3)} `, ...parts, answers.join(', ')].join('  ')
  }

  /** What there is to judge, besides how the servers ended. */
  measured(asked: readonly string[]): Omit<Measured, 'codes' | 'verified'> {
    const { nodes, failures, done, leftOut } = this.#world
    const since = (now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>, name: string): number =>
      (now.get(name) ?? 0) - (before.get(name) ?? 0)
    return {
      nodes: nodes.map(node => ({
        name: node.name,
        samples: this.#samples.get(node) ?? [],
        before: this.#idle.before.get(node),
        after: this.#idle.after.get(node),
        errors: node.errors().length,
      })),
      windows: this.#windows,
      asked,
      load: [...new Set([...done.keys(), ...leftOut.keys()])].map(name => ({
        name,
        done: since(done, this.#warmUp.done, name),
        leftOut: since(leftOut, this.#warmUp.leftOut, name),
      })),
      failures: [...failures.values()].reduce((sum, each) => sum + each, 0),
    }
  }

  /** What the load was, and what went wrong. */
  summary(): string {
    const { done, failures, sessions, leftOut, nodes } = this.#world
    const answers = new Map<string, number>()
    for (const window of this.#windows) {
      for (const [what, figures] of window) answers.set(what, (answers.get(what) ?? 0) + figures.count)
    }
    return [
      `done, with the warm-up: ${list(done)}; left out for lack of room: ${list(leftOut)}`,
      `measured: ${count(sessions - this.#warmUp.sessions)} new conversations; answers: ${list(answers)}`,
      ...[...failures].map(([what, times]) => `unexpected, ${times} times: ${what}`),
      ...nodes.flatMap(node =>
        node
          .errors()
          .slice(0, 20)
          .map(line => `${node.name} logged: ${line}`),
      ),
    ].join('\n')
  }
}

const list = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([what, times]) => `${count(times)} ${what}`).join(', ') || 'none'
