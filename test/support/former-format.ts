import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Takes a closed SQLite database back to the format before checksums, with all that is in it; then runs `sql`. */
export function takeChecksumsAway(path: string, sql = ''): void {
  rmSync(`${path}-head`, { force: true })
  const db = new DatabaseSync(path)
  db.exec('BEGIN; DROP TABLE identity; PRAGMA user_version = 5')
  for (const table of ['events', 'snapshots', 'keys', 'reviews', 'templates']) {
    db.exec(`ALTER TABLE ${table} DROP COLUMN sum`)
  }
  db.exec('DROP TABLE notices; DROP TABLE notices_wanted; DROP INDEX conversations_active')
  for (const column of ['row_sum', 'active_at', 'pinned', 'archived', 'mark']) {
    db.exec(`ALTER TABLE conversations DROP COLUMN ${column}`)
  }
  db.exec(`DROP INDEX turns_claimable; DROP INDEX turns_served; ALTER TABLE turns ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
    UPDATE turns SET parked = 1 WHERE needs IS NULL;
    ALTER TABLE turns DROP COLUMN needs; ALTER TABLE turns DROP COLUMN serves; ALTER TABLE turns DROP COLUMN lasts_ms;
    CREATE INDEX turns_claimable ON turns (until) WHERE status = 'running' AND parked = 0`)
  db.exec(`${sql}; COMMIT`)
  db.close()
}
