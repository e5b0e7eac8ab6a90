import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { Window } from './figures.ts'
import { judge, type Measured, type NodeSample } from './judge.ts'
import type { Node } from './nodes.ts'
import { Record } from './record.ts'
import { type Actor, World } from './world.ts'

const WINDOWS = 30
const MB = 2 ** 20

/** A figure of each window: level, but never twice the same. */
const series = <T>(of: (window: number, noise: number) => T): T[] =>
  Array.from({ length: WINDOWS }, (_, window) => of(window, Math.sin(window * 12.9898)))

const sample = (changed: Partial<NodeSample> = {}): NodeSample => ({
  heap: 60 * MB,
  rss: 150 * MB,
  resources: 40,
  timers: 10,
  files: 60,
  delay: { p99: 12, max: 20 },
  ...changed,
})

const window = (median: number): Window => new Map([['search', { count: 50, median, p95: median * 3 }]])

/** A soak in which nothing went wrong. */
const calm: Measured = {
  nodes: [
    {
      name: 'server',
      samples: series((_, noise) => sample({ heap: (60 + noise) * MB, files: 60 + 3 * noise })),
      before: sample(),
      after: sample(),
      errors: 0,
    },
  ],
  windows: series((_, noise) => window(4 + noise)),
  asked: ['search'],
  load: [{ name: 'looks', done: 1_000, leftOut: 5 }],
  failures: 0,
  codes: [0],
  verified: 0,
}

const [server] = calm.nodes

/** What did not hold. */
const complaints = (changed: Partial<Measured>): string[] =>
  judge({ ...calm, ...changed })
    .filter(({ isHeld }) => !isHeld)
    .map(({ what }) => what)

const samples = (of: (window: number, noise: number) => Partial<NodeSample>): Partial<Measured> => ({
  nodes: server ? [{ ...server, samples: series((window, noise) => sample(of(window, noise))) }] : [],
})

describe("the soak's judge", () => {
  it('a soak in which nothing went wrong holds', () => {
    expect(complaints({})).toEqual([])
  })

  it.each<[string, Partial<Measured>, string]>([
    [
      'a heap that grows by 4 MB, less than it varies otherwise',
      samples((at, noise) => ({ heap: (60 + noise + (4 * at) / WINDOWS) * MB })),
      'server: heap, its trend',
    ],
    ['files that are left open', samples(at => ({ files: 60 + 2 * at })), 'server: file handles'],
    ['timers that are never cleared', samples(at => ({ timers: 10 + at })), 'server: timers'],
    ['answers that come later and later', { windows: series(at => window(4 + at)) }, 'search: latency, median'],
    [
      'no answer in some windows',
      { windows: series(at => (at > 20 ? new Map() : window(4))) },
      'search: windows without an answer',
    ],
    ['no answer from the start', { windows: series(() => new Map()) }, 'search: latency, median'],
    ['load that found no room', { load: [{ name: 'looks', done: 1_000, leftOut: 100 }] }, 'looks: left out'],
    ['a failure', { failures: 1 }, 'unexpected answers, or none in time'],
    ['a server that did not end well', { codes: [0, null] }, 'exit codes other than 0'],
    ['a log that does not hold up', { verified: 1 }, 'exit code of runsheet verify'],
    ['a check that was not made', { verified: null }, 'exit code of runsheet verify'],
    ['an error in the log', { nodes: server ? [{ ...server, errors: 1 }] : [] }, 'errors in the log'],
    [
      'what is left when it is idle again',
      { nodes: server ? [{ ...server, after: sample({ timers: 30 }) }] : [] },
      'server: timers, idle before and after',
    ],
    [
      'servers that were not looked at when idle',
      { nodes: server ? [{ ...server, after: undefined }] : [] },
      'server: timers, idle before and after',
    ],
  ])('%s: it does not hold', (_, changed, what) => {
    expect(complaints(changed)).toContain(what)
  })
})

describe("the soak's world", () => {
  const url = new URL('http://127.0.0.1')
  const node: Node = {
    name: 'server',
    url,
    tokens: { person: '', agent: '' },
    person: createClient({ url }),
    agent: createClient({ url }),
    sample: async () => sample(),
    errors: () => [],
    stop: async () => 0,
  }
  const looks = (work: Actor['work']): Actor => ({ name: 'looks', perSecond: 200, most: 5, work })

  /** Runs an actor on a simulated server for some short windows, and judges it. */
  async function soaked(work: Actor['work']): Promise<{ complaints: string[]; world: World }> {
    const world = new World([node], { requestMs: 50, workMs: 200 })
    const record = new Record(world)
    await record.idle('before')
    const running = world.run(looks(work))
    await record.begin()
    for (let at = 0; at < 6; at += 1) {
      await delay(60)
      await record.window()
    }
    world.end()
    await running
    await record.idle('after')
    const verdicts = judge({ ...record.measured(['search']), codes: [0], verified: 0 })
    return { complaints: verdicts.filter(({ isHeld }) => !isHeld).map(({ what }) => what), world }
  }

  it('a request that is not answered fails in time', async () => {
    const { complaints, world } = await soaked(({ latencies }) => latencies.of('search', new Promise(() => {})))
    expect(complaints).toContain('unexpected answers, or none in time')
    expect([...world.failures.keys()]).toEqual(['looks: Error: not over after 0.05 s'])
  })

  it('work that finds no room is counted', async () => {
    const world = new World([node])
    const { promise, resolve } = Promise.withResolvers<void>()
    const running = world.run(looks(() => promise))
    await expect.poll(() => world.leftOut.get('looks')).toBeGreaterThan(3)
    world.end()
    resolve()
    await running
    expect(world.done.get('looks')).toBe(5)
  })

  it('work that never ends fails, though it asked for nothing in particular', async () => {
    const { world } = await soaked(() => new Promise(() => {}))
    expect([...world.failures.keys()]).toEqual(['looks: Error: not over after 0.2 s'])
  })

  it('what fails while the load ends counts', async () => {
    const { world } = await soaked(async ({ ending }) => {
      await delay(100, undefined, { signal: ending }).catch(() => undefined)
      if (ending.aborted) throw new Error('at the end')
    })
    expect([...world.failures.keys()]).toEqual(['looks: Error: at the end'])
  })

  it('what the end cuts off does not', async () => {
    const { world } = await soaked(({ ending }) => delay(150, undefined, { signal: ending }))
    expect([...world.failures.keys()]).toEqual([])
  })
})
