/** A replacement of `removed` pieces (lines or words) starting at `at`. */
export interface Hunk {
  readonly at: number
  readonly removed: number
  readonly added: readonly string[]
}

/** Lines keep their ends, so that joining restores the text. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

const diffLines = (from: string, to: string): readonly Hunk[] => diff(linesOf(from), linesOf(to))

/** By words, because a file may be one line that holds other people's keys. */
export const diffWords = (from: string, to: string): readonly Hunk[] => diff(wordsOf(from), wordsOf(to))

export function patchWords(text: string, hunks: readonly Hunk[]): string {
  const words = [...wordsOf(text)]
  for (const { at, removed, added } of hunks.toReversed()) words.splice(at, removed, ...added)
  return words.join('')
}

/** Strings, names, spaces and single characters; joining them restores the text. */
const wordsOf = (text: string): readonly string[] => text.match(/"[^"\n]*"|[\w.-]+|\s+|[^]/g) ?? []

/** Shortest edit script (Myers 1986). */
function diff(a: readonly string[], b: readonly string[]): readonly Hunk[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const steps = shortest(a.slice(start, a.length - end), b.slice(start, b.length - end))
  const hunks: Hunk[] = []
  for (const { x, piece } of steps) {
    const at = start + x
    const last = hunks.at(-1)
    const joins = last !== undefined && last.at + last.removed === at
    const one = piece === undefined ? { removed: 1, added: [] } : { removed: 0, added: [piece] }
    if (!joins) hunks.push({ at, ...one })
    else hunks.splice(-1, 1, { at: last.at, removed: last.removed + one.removed, added: [...last.added, ...one.added] })
  }
  return hunks
}

/** Removes piece `x`, or adds one before it. */
interface Step {
  readonly x: number
  readonly piece?: string
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
    steps.push(isAdded ? { x, piece: b[y] ?? '' } : { x })
  }
  return steps.toReversed()
}

const CONTEXT = 2

export function showDiff(before: string, after: string): readonly string[] {
  const old = linesOf(before)
  const shown: string[] = []
  let next = 0
  for (const [index, { at, removed, added }] of diffLines(before, after).entries()) {
    const from = Math.max(next, at - CONTEXT)
    if (index > 0) shown.push(...old.slice(next, Math.min(next + CONTEXT, from)).map(kept))
    if (from > Math.min(next + (index > 0 ? CONTEXT : 0), from)) shown.push('  …')
    shown.push(...old.slice(from, at).map(kept))
    shown.push(...old.slice(at, at + removed).map(line => `- ${body(line)}`), ...added.map(line => `+ ${body(line)}`))
    next = at + removed
  }
  const end = Math.min(next + CONTEXT, old.length)
  shown.push(...old.slice(next, end).map(kept), ...(end < old.length ? ['  …'] : []))
  return shown
}

const body = (line: string): string => line.replace(/\r?\n$/, '')
const kept = (line: string): string => `  ${body(line)}`
