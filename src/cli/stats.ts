import { type AssessorStats, type AssessorStatsByModel, assessorStats } from '../domain/assessor-stats.ts'
import type { Door } from '../door/door.ts'
import { allConversations, type ReadOptions, readStore } from './read-store.ts'

/** Prints how often people overruled each judge's verdicts. */
export function printStats(options: ReadOptions): Promise<void> {
  return readStore(options, async door => {
    const { models } = await allStats(door)
    console.log(models.size === 0 ? 'No judgements yet.' : table(models))
  })
}

async function allStats(door: Door): Promise<AssessorStatsByModel> {
  let all = assessorStats.initial
  for await (const ref of allConversations(door)) {
    all = (await door.conversations.events(ref, { types: assessorStats.types })).reduce(assessorStats.apply, all)
  }
  return all
}

const COLUMNS: readonly (keyof AssessorStats)[] = [
  'judged',
  'ok',
  'not_ok',
  'unknown',
  'overruled',
  'false_passes',
  'false_rejects',
]

function table(models: AssessorStatsByModel['models']): string {
  const head = ['assessor', ...COLUMNS.map(name => name.replace('_', ' '))]
  const rows = [...models.entries()].map(([model, stats]) => [model, ...COLUMNS.map(name => String(stats[name]))])
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map(row => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')
  return [head, ...rows].map(line).join('\n')
}
