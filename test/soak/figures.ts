/** The latencies of one window, by what was asked. */
export type Window = ReadonlyMap<string, { readonly count: number; readonly median: number; readonly p95: number }>

/** How long answers took, by what was asked. */
export class Latencies {
  readonly #limitMs: number
  #since = new Map<string, number[]>()

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Measures an answer, also one that is a refusal. Rejects if there is none in time. */
  async of<T>(what: string, answer: Promise<T>): Promise<T> {
    const from = performance.now()
    try {
      return await within(this.#limitMs, answer)
    } finally {
      const all = this.#since.get(what) ?? []
      all.push(performance.now() - from)
      this.#since.set(what, all)
    }
  }

  /** The figures since the last call. */
  take(): Window {
    const taken = this.#since
    this.#since = new Map()
    return new Map(
      [...taken].map(([what, all]) => [what, { count: all.length, median: at(all, 0.5), p95: at(all, 0.95) }]),
    )
  }
}

/** Rejects unless it comes in time. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not over after ${ms / 1_000} s`)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The value below which this share of all lies. */
export function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** How much a figure may grow from the first third to the last: by a share of itself, and by an amount. */
export interface Tolerance {
  readonly share: number
  readonly amount: number
}

/** One line of the result. */
export interface Verdict {
  readonly what: string
  readonly first: string
  readonly last: string
  readonly allowed: string
  readonly isHeld: boolean
}

/** Compares the medians of the first and the last third of a series. */
export function isFlat(
  what: string,
  series: readonly number[],
  tolerance: Tolerance,
  unit: (value: number) => string,
): Verdict {
  const third = Math.max(1, Math.floor(series.length / 3))
  return grewTo(what, at(series.slice(0, third), 0.5), at(series.slice(-third), 0.5), tolerance, unit)
}

/** By how much a series grew from its begin to its end: its median slope, which single values do not move. */
export function trendOf(series: readonly number[]): number {
  const slopes = series.flatMap((from, first) => series.slice(first + 1).map((to, index) => (to - from) / (index + 1)))
  return at(slopes, 0.5) * (series.length - 1)
}

export function grewTo(
  what: string,
  first: number,
  last: number,
  { share, amount }: Tolerance,
  unit: (value: number) => string,
): Verdict {
  const allowed = first * (1 + share) + amount
  return { what, first: unit(first), last: unit(last), allowed: unit(allowed), isHeld: last <= allowed }
}

/** A Markdown table. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(each => [each.what, each.first, each.last, each.allowed, each.isHeld ? 'held' : 'not held'])
  const all = [['figure', 'first', 'last', 'allowed', ''], ...rows]
  const widths = [0, 1, 2, 3, 4].map(column => Math.max(3, ...all.map(row => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, at) => (at === 0 || at === 4 ? (row[at] ?? '').padEnd(width) : (row[at] ?? '').padStart(width))).join(' | ')} |`
  const rule = widths.map((width, at) => (at === 0 || at === 4 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const [head = [], ...body] = all
  return [line(head), line(rule), ...body.map(line), ''].join('\n')
}

export const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`
export const millis = (ms: number): string => `${ms.toFixed(1)} ms`
export const count = (value: number): string => Math.floor(value).toLocaleString('en')
