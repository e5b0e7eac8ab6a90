import { backup, DatabaseSync } from 'node:sqlite'
import { structureProblem } from '../sqlite/integrity.ts'
import { toStoreError } from '../sqlite/to-store-error.ts'
import { verifyConversations } from '../sqlite/verifiable.ts'
import { StoreError } from '../store-error.ts'

export interface Contents {
  readonly conversations: number
  readonly events: number
  readonly templates: number
  readonly taskFiles: number
}

/** The table with a backup's task files. A data folder's database never has it. */
export const TASK_FILES = 'backup_task_files'

/** Copy in one step: a paused backup restarts whenever another process writes. */
const ALL_PAGES = 2 ** 30

/** A database as of one moment, unaffected by concurrent writes. */
export class DatabaseSnapshot {
  readonly #db: DatabaseSync

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    try {
      this.#db.exec('BEGIN')
      // A read transaction starts with its first read.
      contentsOf(this.#db)
    } catch (error) {
      this.#db.close()
      throw toStoreError(error)
    }
  }

  async copyTo(path: string): Promise<Contents> {
    try {
      await backup(this.#db, path, { rate: ALL_PAGES })
      return contentsOf(this.#db)
    } catch (error) {
      throw toStoreError(error)
    }
  }

  close(): void {
    this.#db.close()
  }
}

/** Checks a copy: its structure, its checksums, and every log against its rows. Returns its contents. */
export function checkedContents(db: DatabaseSync): Contents {
  const problem = structureProblem(db)
  if (problem !== undefined) throw damaged(problem)
  const torn = db
    .prepare(
      `SELECT count(*) AS logs FROM
         (SELECT 1 FROM events GROUP BY conversation_id HAVING min(seq) <> 1 OR max(seq) <> count(*))`,
    )
    .get()
  if (torn?.['logs'] !== 0) throw damaged(`events are missing in ${String(torn?.['logs'])} conversations`)
  for (const difference of verifyConversations(db)) throw damaged(difference)
  return contentsOf(db)
}

export const isSame = (one: Contents, other: Contents): boolean =>
  (Object.keys(one) as (keyof Contents)[]).every(what => one[what] === other[what])

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

const damaged = (cause: string): StoreError => new StoreError('corrupt', 'The copy is damaged.', { cause })
