import { type AssessorStats, type AssessorStatsByModel, assessorStats } from '../domain/assessor-stats.ts'
import { type Door, openDoor } from '../door/door.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { Environment } from './clean-environment.ts'
import { existingFolder } from './data-folder.ts'
import { checkStore, openStore, type StoreOptions } from './open-store.ts'

const PAGE_SIZE = 200

/** Prints how often people overruled each assessor's verdicts. */
export async function printStats(options: StoreOptions & { readonly environment: Environment }): Promise<void> {
  checkStore(options.store)
  existingFolder(options)
  const door = openDoor({ store: await openStore(options), readOnly: true })
  try {
    const { models } = await allStats(door)
    console.log(models.size === 0 ? 'No judgements yet.' : table(models))
  } finally {
    await door.close()
  }
}

async function allStats({ conversations }: Door): Promise<AssessorStatsByModel> {
  let all = assessorStats.initial
  let cursor: string | undefined
  do {
    const { items, next_cursor } = await conversations.list(LOCAL_TENANT, { limit: PAGE_SIZE, cursor })
    for (const { session_id } of items) {
      const ref = { tenant: LOCAL_TENANT, conversation: session_id }
      all = (await conversations.events(ref, { types: assessorStats.types })).reduce(assessorStats.apply, all)
    }
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined)
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
