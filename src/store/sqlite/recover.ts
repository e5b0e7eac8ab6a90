import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoredEvent } from '../../domain/event.ts'
import { Checksums } from '../checksum.ts'
import { type Commit, commitOf } from '../commit.ts'
import { openedBy } from '../lock-holder.ts'
import { piecesOf } from '../pieces.ts'
import { type Ref, refKey } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { createDatabase } from './create.ts'
import { identityOf } from './database-identity.ts'
import { readHead, type Written } from './head-file.ts'
import { lockOut } from './lock-out.ts'
import { SqliteLog } from './log.ts'
import { finishMoves, moveTogether, refuseUnfinished, unfinishedMoves } from './moves.ts'
import { nothingReadable } from './open-errors.ts'
import { Found } from './salvage/found.ts'

export interface Recovered {
  /** Acknowledged events, as far as known. */
  readonly acknowledged: number
  readonly events: number
  readonly conversations: number
  readonly templates: number
  /** Conversations truncated at an unreadable event. */
  readonly cut: readonly CutLog[]
  /** Logs whose conversation id was already taken, with their new id. */
  readonly renamed: readonly (Ref & { readonly now: string })[]
  readonly hasAllTemplates: boolean
  /** Templates that may be outdated or were deleted. */
  readonly doubtful: readonly string[]
  readonly templateChanges: number
  readonly keys: 'all' | 'some' | 'none'
  readonly kept: readonly string[]
}
export interface CutLog extends Ref {
  readonly seq: number
  /** Known events after it. None can be folded after the first unreadable one. */
  readonly lost: number
}

/**
 * Builds a new database from every readable event with a valid checksum, up to the first gap of each conversation. It
 * replaces the damaged one, which is kept next to it. No other process may have the database open.
 */
export function recoverDatabase(path: string, now: Date): Recovered {
  const real = existsSync(path) ? realpathSync(path) : path
  refuseUnfinished(real)
  const lock = locked(path, real)
  const head = readHead(real)
  const fresh = `${real}.recovered-${process.pid}`
  let found: Found | undefined
  try {
    removeLeftovers(real)
    found = new Found(real, `${fresh}.found`, head?.database)
    if (found.newestId === 0) throw nothingReadable(path)
    createDatabase(fresh)
    return exchange(real, fresh, now, save(found, fresh, head?.written))
  } finally {
    if (!unfinishedMoves(real)) for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true })
    found?.close()
    lock.release()
  }
}

export function finishRecovery(path: string): Recovered | undefined {
  const real = existsSync(path) ? realpathSync(path) : path
  const unfinished = unfinishedMoves(real)
  if (!unfinished) return undefined
  if (unfinished.command !== 'recover') refuseUnfinished(real)
  finishMoves(real, unfinished)
  removeLeftovers(real)
  return unfinished.report as Recovered
}

/** Removes files of a killed recovery or start. A live one would hold the lock that we have. */
function removeLeftovers(real: string): void {
  if (!existsSync(dirname(real))) return
  const [name, ours] = [basename(real), `.probe-${process.pid}`]
  const leftovers = readdirSync(dirname(real)).filter(
    each =>
      each.startsWith(name) &&
      /^\.(?:probe|recovered)-\d+/.test(each.slice(name.length)) &&
      !each.slice(name.length).startsWith(ours),
  )
  for (const each of leftovers) rmSync(join(dirname(real), each), { force: true })
}

/** Writes by another process meanwhile would be missing from the new database. */
function locked(path: string, real: string): { release: () => void } {
  if (!existsSync(real)) return { release: () => {} }
  try {
    const lock = lockOut(real)
    if (lock) return lock
  } catch {
    // SQLite cannot lock a file whose first page is damaged. Ask the OS which processes have it open.
    if (openedBy(real).length === 0) return { release: () => {} }
  }
  const pids = openedBy(real)
  const who = pids.length === 0 ? 'another process' : `process ${pids.join(', ')}`
  throw new StoreError(
    'busy',
    `${path} is open in ${who}. Stop every server and every runsheet mcp that uses it first.`,
  )
}

function save(found: Found, fresh: string, written: Written | undefined): Omit<Recovered, 'kept'> {
  const newest = Math.max(found.newestId, written?.events ?? 0)
  const acknowledged = newest
  const db = new DatabaseSync(fresh)
  try {
    db.exec('BEGIN')
    const sums = new Checksums(identityOf(db))
    const log = new SqliteLog(db, sums)
    const cut: CutLog[] = []
    const renamed: (Ref & { now: string })[] = []
    const taken = new Set<string>()
    let [events, conversations] = [0, 0]
    const logs = found.logs()
    for (const each of [...logs, ...found.lostLogs(newest)]) {
      const { tenant, conversation } = each
      const now = freeName(each, taken)
      taken.add(refKey({ tenant, conversation: now }))
      if (now !== conversation) renamed.push({ tenant, conversation, now })
      const seq = write(log, { tenant, conversation: now }, found.events({ ...each, conversation: now }))
      const lost = found.endOf(each, newest) - seq
      if (lost > 0) cut.push({ tenant, conversation, seq, lost })
      events += seq
      if (seq > 0) conversations += 1
    }
    const templates = found.templates()
    const put = db.prepare('INSERT INTO templates (tenant, name, body, sum) VALUES (?, ?, ?, ?)')
    for (const { tenant, name, body } of templates) {
      put.run(tenant, name, body, sums.of('template', tenant, name, body))
    }
    // A stored answer must not outlive the events that it reports.
    const keepsKeys = events >= acknowledged
    if (keepsKeys)
      for (const ref of new Map(logs.map(each => [refKey(each), each])).values()) log.writeKeys(ref, found.keys(ref))
    db.exec('COMMIT')
    return {
      acknowledged,
      events,
      conversations,
      templates: templates.length,
      cut,
      renamed,
      hasAllTemplates: found.isWhole('template'),
      doubtful: templates.filter(({ certain }) => certain === 0).map(({ name }) => name),
      templateChanges: Math.max(0, (written?.templates ?? 0) - found.templateWrites),
      keys: !keepsKeys ? 'none' : found.isWhole('key') ? 'all' : 'some',
    }
  } finally {
    db.close()
  }
}

function freeName({ tenant, conversation }: Ref, taken: ReadonlySet<string>): string {
  let name = conversation
  for (let count = 2; taken.has(refKey({ tenant, conversation: name })); count += 1) {
    name = `${conversation.slice(0, 120)}-${count}`
  }
  return name
}

function write(log: SqliteLog, ref: Ref, events: Iterable<StoredEvent>): number {
  let seq = 0
  for (const piece of piecesOf(ref, wholeCommits(events))) {
    log.write(ref, piece)()
    seq = piece.after.seq
  }
  return seq
}

/** Yields the commits before the first gap. Drops a commit with a gap in it, because commits are atomic. */
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

/** Replaces the damaged database atomically, as seen by any start: see `moveTogether`. */
function exchange(real: string, fresh: string, now: Date, saved: Omit<Recovered, 'kept'>): Recovered {
  const time = now.toISOString().replaceAll(':', '-').slice(0, 19)
  const kept = ['', '-wal', '-head'].filter(suffix => existsSync(real + suffix))
  const aside = (suffix: string): string => `${real}.damaged-${time}${suffix}`
  const inTheWay = kept.map(aside).find(existsSync)
  if (inTheWay !== undefined) throw new StoreError('io', `${inTheWay} exists already. Move it away, and try again.`)
  rmSync(`${real}-shm`, { force: true })
  const report: Recovered = { ...saved, kept: kept.map(aside) }
  const moves = [...kept.map(suffix => [real + suffix, aside(suffix)] as const), [fresh, real] as const]
  moveTogether(real, {
    command: 'recover',
    moves: moves.map(([from, to]) => [basename(from), basename(to)] as const),
    report,
  })
  return report
}

export const cutLine = ({ seq, lost, ...ref }: CutLog): string =>
  seq === 0
    ? `${refKey(ref)}: all of it is lost (${lost} events).`
    : `${refKey(ref)}: ends at event ${seq} of ${seq + lost}.`
