import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoredEvent } from '../../domain/event.ts'
import { Checksums } from '../checksum.ts'
import { type Commit, commitOf } from '../commit.ts'
import { flushFolder } from '../folder.ts'
import { piecesOf } from '../pieces.ts'
import { type Ref, refKey } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { createDatabase } from './create.ts'
import { headPath, readHead } from './head-file.ts'
import { identityOf } from './database-identity.ts'
import { keepFile } from './keep-file.ts'
import { SqliteLog } from './log.ts'
import { Found } from './salvage/found.ts'

/** What was saved from a damaged database, and what was not. */
export interface Recovered {
  /** Events that were acknowledged, as far as that is known. */
  readonly acknowledged: number
  readonly events: number
  readonly conversations: number
  readonly templates: number
  /** Conversations that end before the end of their log: at an event that cannot be read. */
  readonly cut: readonly CutLog[]
  /** Where the damaged files are now. */
  readonly kept: readonly string[]
}
export interface CutLog extends Ref {
  /** The last event that was saved. */
  readonly seq: number
  /** Events after the first one that is missing; they cannot be folded without it. */
  readonly unused: number
}

/**
 * Makes a new database of every event that can be read and has its checksum, up to the first gap of each conversation, and
 * puts it in the place of the damaged one, which is kept beside it.
 */
export function recoverDatabase(path: string, now: Date): Recovered {
  const real = existsSync(path) ? realpathSync(path) : path
  const head = readHead(real)
  const fresh = `${real}.recovered-${process.pid}`
  const found = new Found(real, `${fresh}.found`, head?.database)
  try {
    if (found.newestId === 0) {
      throw new StoreError('corrupt', `Nothing in ${path} can be read; it was left untouched. Restore a backup.`)
    }
    createDatabase(fresh)
    const acknowledged = Math.max(found.newestId, head?.written.events ?? 0)
    const saved = save(found, fresh, acknowledged)
    const kept = exchange(real, fresh, now)
    return { ...saved, acknowledged, kept }
  } finally {
    found.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true })
  }
}

function save(found: Found, fresh: string, acknowledged: number): Omit<Recovered, 'acknowledged' | 'kept'> {
  const db = new DatabaseSync(fresh)
  try {
    db.exec('BEGIN')
    const sums = new Checksums(identityOf(db).id)
    const log = new SqliteLog(db, sums)
    const cut: CutLog[] = []
    let [events, conversations] = [0, 0]
    const refs = found.conversations()
    for (const ref of refs) {
      const end = write(log, ref, found)
      const unused = found.eventsAfter(ref, end)
      if (unused > 0) cut.push({ ...ref, seq: end, unused })
      events += end
      if (end > 0) conversations += 1
    }
    const templates = found.templates()
    const put = db.prepare('INSERT INTO templates (tenant, name, body, sum) VALUES (?, ?, ?, ?)')
    for (const { tenant, name, body } of templates) {
      put.run(tenant, name, body, sums.of('template', tenant, name, body))
    }
    // An answer under a key must not outlive what it answered.
    if (events >= acknowledged) for (const ref of refs) log.writeKeys(ref, found.keys(ref))
    db.exec('COMMIT')
    return { events, conversations, templates: templates.length, cut }
  } finally {
    db.close()
  }
}

/** Writes the log of a conversation up to its first gap, and returns the seq of its end. */
function write(log: SqliteLog, ref: Ref, found: Found): number {
  let seq = 0
  for (const piece of piecesOf(ref, wholeCommits(found.events(ref)))) {
    log.write(ref, piece)()
    seq = piece.after.seq
  }
  return seq
}

/** The commits before the first gap. One that the gap goes through is left out: it was all or nothing. */
function* wholeCommits(events: Iterable<StoredEvent>): Generator<Commit> {
  let open: StoredEvent[] = []
  let seq = 0
  for (const event of events) {
    const [begun] = open
    const isSame = begun?.timestamp === event.timestamp
    if (event.seq !== seq + 1) {
      if (begun && !isSame) yield commitOf(open)
      return
    }
    if (begun && !isSame) {
      yield commitOf(open)
      open = []
    }
    open.push(event)
    seq = event.seq
  }
  if (open.length > 0) yield commitOf(open)
}

/**
 * Puts the new database in the place of the damaged one. The head file goes last: until then a crash leaves a database
 * that does not fit to it, which is refused.
 */
function exchange(real: string, fresh: string, now: Date): string[] {
  const time = now.toISOString().replaceAll(':', '-').slice(0, 19)
  const kept = ['', '-wal', '-head'].flatMap(suffix => {
    if (!existsSync(real + suffix)) return []
    const name = `${real}.damaged-${time}${suffix}`
    keepFile(real + suffix, name)
    return [name]
  })
  for (const suffix of ['-wal', '-shm']) rmSync(real + suffix, { force: true })
  renameSync(fresh, real)
  rmSync(headPath(real), { force: true })
  flushFolder(dirname(real))
  return kept
}

/** What became of a conversation, in words. */
export const cutLine = ({ seq, unused, ...ref }: CutLog): string =>
  `${refKey(ref)}: ends at event ${seq}. Event ${seq + 1} cannot be read, and without it ${unused} later ones cannot be used.`
