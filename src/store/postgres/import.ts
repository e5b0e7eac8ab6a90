import type { Commit } from '../commit.ts'
import { logExists, piecesOf } from '../pieces.ts'
import type { Ref } from '../store.ts'
import type { Database } from './connections.ts'
import type { PostgresLog } from './log.ts'

/** The whole import may take long; each statement still has its own timeout. */
const LONG_CALL = { ms: 3_600_000, retries: false }

/** Writes a whole log in one transaction. Returns its head. Not retried, because the commits can be read only once. */
export function importLog(database: Database, log: PostgresLog, ref: Ref, commits: Iterable<Commit>): Promise<number> {
  return database.use(async session => {
    const { basis } = await log.take(session, ref, [])
    if (basis.state.seq > 0) throw logExists()
    let remember = (): void => {}
    let seq = 0
    for (const piece of piecesOf(ref, commits)) {
      remember = await log.write(session, ref, piece, { isImport: true })
      seq = piece.after.seq
    }
    await session.query({ text: 'COMMIT' })
    remember()
    return seq
  }, LONG_CALL)
}
