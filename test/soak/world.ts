import { setTimeout as delay } from 'node:timers/promises'
import { RunsheetError } from '../../src/client/http.ts'
import { Latencies, within } from './figures.ts'
import type { Node } from './nodes.ts'

/** One piece of load. */
export interface Actor {
  readonly name: string
  readonly perSecond: number
  /** How many may be under way at once; beyond, the next one is left out. */
  readonly most: number
  /** Whether it fills a cache: it hurries during the warm-up. */
  readonly fills?: boolean
  readonly work: (world: World) => Promise<void>
}

/** Conversations that actors still work with. */
const MAX_RECENT = 300

/** How long a request, and a piece of work with all its waits, may take: far longer than either should. */
const LIMITS = { requestMs: 30_000, workMs: 120_000 }

/** What all actors share: the servers, the conversations, and what was seen of them. */
export class World {
  readonly nodes: readonly Node[]
  readonly latencies: Latencies
  readonly done = new Map<string, number>()
  /** By actor: work that was left out, because too much was under way. */
  readonly leftOut = new Map<string, number>()
  readonly failures = new Map<string, number>()
  readonly #ending = new AbortController()
  readonly #recent: string[] = []
  /** How many times faster caches are filled. */
  speed = 1
  sessions = 0
  readonly #workMs: number

  constructor(nodes: readonly Node[], { requestMs, workMs } = LIMITS) {
    this.nodes = nodes
    this.latencies = new Latencies(requestMs)
    this.#workMs = workMs
  }

  /** Aborts when the load ends. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  node(): Node {
    return pick(this.nodes)
  }

  newSession(): string {
    this.sessions += 1
    const session = `soak-${this.sessions}`
    this.#recent.push(session)
    if (this.#recent.length > MAX_RECENT) this.#recent.shift()
    return session
  }

  recentSession(): string {
    return pick(this.#recent) ?? 'soak-1'
  }

  /** Runs an actor at its pace until the load ends; resolves once its last work is over. */
  async run({ name, perSecond, most, work, fills = false }: Actor): Promise<void> {
    const underWay = new Set<Promise<void>>()
    while (!this.ending.aborted) {
      await this.wait(1_000 / (perSecond * (fills ? this.speed : 1)))
      if (this.ending.aborted) break
      if (underWay.size >= most) {
        bump(this.leftOut, name)
        continue
      }
      const one = within(this.#workMs, work(this)).then(
        () => bump(this.done, name),
        (error: unknown) => this.#failed(name, error),
      )
      underWay.add(one)
      void one.finally(() => underWay.delete(one))
    }
    await Promise.all(underWay)
  }

  /** Resolves after this long, or when the load ends. */
  wait(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.ending, ref: true }).catch(() => undefined)
  }

  end(): void {
    this.#ending.abort()
  }

  #failed(name: string, error: unknown): void {
    // What the end itself cut off.
    if (this.ending.aborted && (error as Error).name === 'AbortError') return
    const { cause } = error as Error
    const why = error instanceof RunsheetError ? `${error.status} ${error.code}` : String(cause ?? error)
    bump(this.failures, `${name}: ${why}`)
  }
}

export const bump = (counts: Map<string, number>, key: string, by = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by)

export const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T
export const chance = (share: number): boolean => Math.random() < share

/** Resolves also if the server refuses with one of these statuses: that is an answer. */
export async function allowing(statuses: readonly number[], asked: Promise<unknown>): Promise<void> {
  await asked.catch((error: unknown) => {
    if (!(error instanceof RunsheetError) || !statuses.includes(error.status)) throw error
  })
}
