import {
  count,
  grewTo,
  isFlat,
  megabytes,
  millis,
  type Tolerance,
  trendOf,
  type Verdict,
  type Window,
} from './figures.ts'
import type { Sample } from './probe.ts'

/** A server's own figures, and how many files it has open; undefined where the system does not tell. */
export type NodeSample = Sample & { readonly files: number | undefined }

/** What was measured of one server. */
export interface MeasuredNode {
  readonly name: string
  readonly samples: readonly NodeSample[]
  /** Without load. */
  readonly before: NodeSample | undefined
  readonly after: NodeSample | undefined
  /** Lines of its log at the level of errors. */
  readonly errors: number
}

/** What was measured of a whole soak. */
export interface Measured {
  readonly nodes: readonly MeasuredNode[]
  readonly windows: readonly Window[]
  /** What is asked all the time: every window must have answers to it. */
  readonly asked: readonly string[]
  readonly load: readonly { readonly name: string; readonly done: number; readonly leftOut: number }[]
  readonly failures: number
  readonly codes: readonly (number | null)[]
  /** What `runsheet verify` ended with afterwards. */
  readonly verified: number | null
}

/** Figures of a server, and how much each may grow. */
export const FIGURES: readonly {
  readonly what: string
  readonly of: (sample: NodeSample) => number | undefined
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
const NONE: Tolerance = { share: 0, amount: 0 }
/** Idle again: only what is kept on purpose may be left. */
const LEFT: Tolerance = { share: 0, amount: 10 }
const LATENCY = { median: { share: 0.5, amount: 5 }, p95: { share: 0.5, amount: 25 } } as const
/** By how much the heap may grow in the last two thirds, by its trend. Before that, caches are still being filled. */
const HEAP_TREND: Tolerance = { share: 0, amount: 2 * 2 ** 20 }
/** How much of an actor's work may be left out. */
const LEFT_OUT = { share: 0.05, amount: 2 }

/** What held, and what did not. */
export function judge(measured: Measured): Verdict[] {
  const { nodes, failures, codes, verified } = measured
  const none = (what: string, times: number): Verdict => grewTo(what, 0, times, NONE, count)
  return [
    ...nodes.flatMap(node => [...flat(node), ...left(node)]),
    ...latencies(measured),
    ...leftOut(measured),
    none(
      'errors in the log',
      nodes.reduce((sum, { errors }) => sum + errors, 0),
    ),
    none('unexpected answers, or none in time', failures),
    none('exit codes other than 0', codes.filter(code => code !== 0).length),
    none('exit code of runsheet verify', verified ?? Number.NaN),
  ]
}

function flat({ name, samples }: MeasuredNode): Verdict[] {
  const verdicts = FIGURES.flatMap(({ what, of, may, unit }) => {
    const series = samples.flatMap(sample => of(sample) ?? [])
    return series.length === 0 ? [] : [isFlat(`${name}: ${what}`, series, may, unit)]
  })
  const trend = trendOf(samples.slice(Math.floor(samples.length / 3)).map(({ heap }) => heap))
  return [...verdicts, grewTo(`${name}: heap, its trend`, 0, trend, HEAP_TREND, megabytes)]
}

/** Files and timers after the load, beside those before it. */
function left({ name, before, after }: MeasuredNode): Verdict[] {
  const verdict = (what: string, first = Number.NaN, last = Number.NaN): Verdict =>
    grewTo(`${name}: ${what}, idle before and after`, first, last, LEFT, count)
  return [
    ...(before && before.files === undefined ? [] : [verdict('file handles', before?.files, after?.files)]),
    verdict('active resources', before?.resources, after?.resources),
    verdict('timers', before?.timers, after?.timers),
  ]
}

function latencies({ windows, asked }: Measured): Verdict[] {
  const all = new Set([...asked, ...windows.flatMap(window => [...window.keys()])])
  return [...all].flatMap(what => {
    const answered = windows.flatMap(window => window.get(what) ?? [])
    const isFlatIn = (key: 'median' | 'p95'): Verdict =>
      isFlat(
        `${what}: latency, ${key}`,
        answered.map(figures => figures[key]),
        LATENCY[key],
        millis,
      )
    const silent = windows.length - answered.length
    return [
      isFlatIn('median'),
      isFlatIn('p95'),
      ...(asked.includes(what) ? [grewTo(`${what}: windows without an answer`, 0, silent, NONE, count)] : []),
    ]
  })
}

/** A server that answers too slowly, or never, gets less load than it should. */
function leftOut({ load }: Measured): Verdict[] {
  return load.map(({ name, done, leftOut: times }) => {
    const amount = LEFT_OUT.amount + LEFT_OUT.share * (done + times)
    return grewTo(`${name}: left out`, 0, times, { share: 0, amount }, count)
  })
}
