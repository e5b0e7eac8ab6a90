import { cpus, totalmem } from 'node:os'

export interface Line {
  readonly what: string
  readonly ours: string
  readonly beside: string
  readonly ratio: string
  readonly goal: string
  readonly met: boolean | undefined
}

export function printTable(title: string, lines: readonly Line[]): void {
  const head = ['', 'ours', 'beside', 'ratio', 'goal', ''] as const
  const rows = [
    head,
    ...lines.map(line => [line.what, line.ours, line.beside, line.ratio, line.goal, mark(line.met)] as const),
  ]
  const widths = head.map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  console.log(`\n${title}`)
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

/** Prints what the figures were measured on, and how. */
export function printMachine(how: string): void {
  const [cpu] = cpus()
  console.log(
    `Node ${process.version} on ${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ` +
      `${Math.round(totalmem() / 2 ** 30)} GiB. ${how}`,
  )
}

/** The median ignores a disturbed round. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`

export const micros = (us: number): string => `${us.toFixed(us < 10 ? 1 : 0)} µs`

export const millis = (ms: number): string => `${ms.toFixed(ms < 100 ? 1 : 0)} ms`

export const times = (ratio: number): string => `${ratio.toFixed(2)}×`

export async function rate(count: number, work: () => Promise<void> | void): Promise<number> {
  const start = performance.now()
  await work()
  return (count / (performance.now() - start)) * 1_000
}

/** Alternating rounds, so that both meet the same conditions. */
export async function sideBySide(
  rounds: number,
  ours: () => Promise<number>,
  theirs: () => Promise<number> | number,
): Promise<{ ours: number; theirs: number; ratio: number }> {
  const figures: { ours: number; theirs: number }[] = []
  await theirs()
  await ours()
  for (let round = 0; round < rounds; round += 1) figures.push({ theirs: await theirs(), ours: await ours() })
  return {
    ours: median(figures.map(figure => figure.ours)),
    theirs: median(figures.map(figure => figure.theirs)),
    ratio: median(figures.map(figure => figure.ours / figure.theirs)),
  }
}

export async function turnByTurn<K extends string>(
  rounds: number,
  work: Readonly<Record<K, () => Promise<number>>>,
): Promise<{ median(key: K): number; ratio(mine: K, theirs: K): number }> {
  const keys = Object.keys(work) as K[]
  const figures: Record<K, number>[] = []
  for (let round = -1; round < rounds; round += 1) {
    const figure = {} as Record<K, number>
    for (const key of round % 2 === 0 ? keys : keys.toReversed()) figure[key] = await work[key]()
    // Round -1 is a warm-up.
    if (round >= 0) figures.push(figure)
  }
  return {
    median: key => median(figures.map(figure => figure[key])),
    ratio: (mine, theirs) => median(figures.map(figure => figure[mine] / figure[theirs])),
  }
}

const mark = (met: boolean | undefined): string => (met === undefined ? '' : met ? 'met' : 'NOT MET')
