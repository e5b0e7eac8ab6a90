/** Lines of one text that another has in place of `removed` lines from `at` on. */
export interface Hunk {
  readonly at: number
  readonly removed: number
  readonly added: readonly string[]
}

/** Lines with their ends, so that joining gives the text back. */
export const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** What turns one text into another, line by line: the shortest script (Myers 1986). */
export function diffLines(from: string, to: string): readonly Hunk[] {
  const [a, b] = [linesOf(from), linesOf(to)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const steps = shortest(a.slice(start, a.length - end), b.slice(start, b.length - end))
  const hunks: Hunk[] = []
  for (const { x, line } of steps) {
    const at = start + x
    const last = hunks.at(-1)
    const joins = last !== undefined && last.at + last.removed === at
    const one = line === undefined ? { removed: 1, added: [] } : { removed: 0, added: [line] }
    if (!joins) hunks.push({ at, ...one })
    else hunks.splice(-1, 1, { at: last.at, removed: last.removed + one.removed, added: [...last.added, ...one.added] })
  }
  return hunks
}

/** The other text. */
export function patch(text: string, hunks: readonly Hunk[]): string {
  const lines = [...linesOf(text)]
  for (const { at, removed, added } of hunks.toReversed()) lines.splice(at, removed, ...added)
  return lines.join('')
}

/** A step removes line `x`, or adds a line before it. */
interface Step {
  readonly x: number
  readonly line?: string
}

function shortest(a: readonly string[], b: readonly string[]): readonly Step[] {
  const trace: Map<number, number>[] = []
  let reached = new Map<number, number>([[1, 0]])
  const from = (reached: Map<number, number>, k: number, depth: number): boolean =>
    k === -depth || (k !== depth && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1))
  for (let depth = 0; ; depth += 1) {
    trace.push(reached)
    reached = new Map(reached)
    for (let k = -depth; k <= depth; k += 2) {
      let x = from(reached, k, depth) ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      reached.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace, from)
    }
  }
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Map<number, number>[],
  isDown: (reached: Map<number, number>, k: number, depth: number) => boolean,
): readonly Step[] {
  const steps: Step[] = []
  let [x, y] = [a.length, b.length]
  for (let depth = trace.length - 1; depth > 0; depth -= 1) {
    const reached = trace[depth] ?? new Map<number, number>()
    const k = x - y
    const isAdded = isDown(reached, k, depth)
    const before = isAdded ? k + 1 : k - 1
    x = reached.get(before) ?? 0
    y = x - before
    steps.push(isAdded ? { x, line: b[y] ?? '' } : { x })
  }
  return steps.toReversed()
}
