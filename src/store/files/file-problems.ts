import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'
import { parse } from './document.ts'
import { TaskFiles } from './files.ts'

/** Yields task files that cannot be read. An edit that is not imported yet is not a problem. */
export function* fileProblems(data: string, db: DatabaseSync): Generator<string> {
  const files = new TaskFiles(data)
  for (const row of db.prepare('SELECT name FROM task_files ORDER BY name').iterate()) {
    const problem = problemOf(files, String(row['name']))
    if (problem !== undefined) yield problem
  }
}

function problemOf(files: TaskFiles, name: string): string | undefined {
  try {
    const text = files.read(name)
    if (text !== null) parse(text)
    return undefined
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return `.agents/tasks/${name}: ${error.message} (${error.detail ?? error.code})`
  }
}
