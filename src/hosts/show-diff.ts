import { diffLines, linesOf } from './line-diff.ts'

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
