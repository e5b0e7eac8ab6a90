import type { DatabaseSync } from 'node:sqlite'
import { problemsIn } from './sqlite/verify.ts'
import { StoreError } from './store-error.ts'

export interface Contents {
  readonly conversations: number
  readonly events: number
  readonly templates: number
  readonly taskFiles: number
}

/** The table with a backup's task files. A data folder's database never has it. */
export const TASK_FILES = 'backup_task_files'

/** Checks a copy: its structure, its chains, and every log against its rows. Returns its contents. */
export function checkedContents(db: DatabaseSync): Contents {
  for (const problem of problemsIn(db)) throw new StoreError('corrupt', 'The copy is damaged.', { cause: problem })
  return contentsOf(db)
}

function contentsOf(db: DatabaseSync): Contents {
  const hasFiles = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(TASK_FILES) !== undefined
  const count = (table: string): number => Number(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'])
  return {
    conversations: count('conversations'),
    events: count('events'),
    templates: count('templates'),
    taskFiles: hasFiles ? count(TASK_FILES) : 0,
  }
}
