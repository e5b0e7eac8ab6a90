// A process that holds the write lock of a database until a line comes in.
import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const { path, exclusive } = JSON.parse(process.argv[2] ?? '{}') as { path: string; exclusive?: boolean }
const db = new DatabaseSync(path)
// The server's own work in the background may have it for a moment.
db.exec('PRAGMA busy_timeout = 5000')
db.exec(exclusive ? 'BEGIN EXCLUSIVE' : 'BEGIN IMMEDIATE')
writeSync(1, 'held\n')
process.stdin.once('data', () => {
  db.exec('ROLLBACK')
  db.close()
  writeSync(1, 'released\n')
  process.stdin.destroy()
})
