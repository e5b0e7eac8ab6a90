import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store-error.ts'

export function identityOf(db: DatabaseSync): string {
  const row = db.prepare('SELECT id FROM identity').get()
  if (!row) throw new StoreError('corrupt', 'The database has lost its identity.')
  return String(row['id'])
}
