import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'

/** The id of the database, which is part of its checksums. */
export interface DatabaseIdentity {
  readonly id: string
  /** How many event ids were unused when checksums began. */
  readonly gaps: number
}

export function identityOf(db: DatabaseSync): DatabaseIdentity {
  const row = db.prepare('SELECT id, gaps FROM identity').get()
  if (!row) throw new StoreError('corrupt', 'The database has lost its identity.')
  return { id: String(row['id']), gaps: Number(row['gaps']) }
}
