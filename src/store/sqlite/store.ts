import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { emptyConversation, type Conversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import type { Instant } from '../../core/model/instant.ts'
import type { Need } from '../../core/model/needs.ts'
import { StoreClock } from '../clock.ts'
import { StoreError, closed } from '../store-error.ts'
import type {
  At,
  ClaimOptions,
  Commit,
  Committed,
  Decide,
  FullStore,
  Lease,
  LiveText,
  Queries,
  Ref,
  Search,
  Store,
  Templates,
} from '../store.ts'
import { Group, byConversation, called, logExists, piecesOf, stage, type Call, type Staged } from '../stage.ts'
import type { Hints } from '../hints.ts'
import { proveRoom } from '../private-file.ts'
import type { CatchUp } from '../search-catch-up.ts'
import type { Verifiable } from '../verify.ts'
import { HeadFile, type Head } from './head-file.ts'
import { SqliteLeases } from './leases.ts'
import { sqliteLive, sqliteNotices, sqliteQueries, sqliteTemplates, type Read, type SqliteNotices } from './queries.ts'
import { SqliteLog } from './log.ts'
import { openDatabase, pragma, unflushed } from './open.ts'
import { OpenFiles } from './open-files.ts'
import { sqliteSearch } from './search-index.ts'
import { openError, toStoreError } from './to-store-error.ts'
import { sqliteVerifiable } from './verify.ts'
import { watchedHints } from './watch.ts'
import { WriteLock } from './write-lock.ts'

/** Points at which tests inject a power cut. */
export type SqliteFaultPoint = 'begun' | 'staged' | 'written' | 'committed' | 'noted'

export interface SqliteStoreOptions {
  readonly path: string
  /** Added to the machine's clock, so that tests can pass a deadline. */
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: SqliteFaultPoint) => void
  /** Called within the transaction for each changed conversation; a throw rejects its calls. */
  readonly onWrite?: (db: DatabaseSync, ref: Ref, after: Conversation) => void
}

export const openSqliteStore = (options: SqliteStoreOptions): Promise<SqliteStore> =>
  openSqlite(options, db => new SqliteStore(db, options))

export async function openSqlite<S extends SqliteStore>(
  { path }: SqliteStoreOptions,
  make: (db: DatabaseSync) => S,
): Promise<S> {
  const db = await openDatabase(path)
  try {
    return make(db)
  } catch (error) {
    db.close()
    throw openError(error, path)
  }
}

export class SqliteStore implements FullStore {
  readonly queries: Queries
  readonly search: Search
  readonly templates: Templates
  readonly live: LiveText
  readonly notices: SqliteNotices
  readonly place: string
  readonly #db: DatabaseSync
  readonly #files: OpenFiles
  readonly #head: HeadFile
  readonly #log: SqliteLog
  readonly #lock: WriteLock
  readonly #clock: StoreClock
  readonly #leases: SqliteLeases
  readonly #hints: Hints
  readonly #indexing: CatchUp
  readonly #options: SqliteStoreOptions
  readonly #sql
  readonly #group = new Group<Call>((calls, since) => this.#serve(calls, since))
  readonly #begin = (): void => {
    try {
      this.#sql.begin.run()
    } catch (error) {
      throw this.#explained(error)
    }
  }
  #closed = false
  /** The newest event of the open transaction. */
  #written: Head | undefined

  constructor(db: DatabaseSync, options: SqliteStoreOptions) {
    this.#db = db
    this.#options = options
    this.place = basename(options.path)
    this.#files = new OpenFiles(options.path)
    this.#head = new HeadFile(realpathSync(options.path))
    this.#log = new SqliteLog(db, head => (this.#written = head))
    this.#hints = watchedHints(db)
    this.#lock = new WriteLock(`${realpathSync(options.path)}-shm`)
    this.#clock = new StoreClock({ isAwaited: () => this.#leases.isAwaited(), skewMs: options.skewMs })
    this.#leases = new SqliteLeases(db, this.#clock)
    this.#sql = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT') }
    const read: Read = work => this.#read(work)
    const checkFiles = (): void => this.#files.check()
    this.queries = sqliteQueries(db, read, this.#log, () => this.#clock.now())
    const { search, indexing } = sqliteSearch(db, read, this.#log, checkFiles)
    this.search = search
    this.#indexing = indexing
    this.templates = sqliteTemplates(db, read, change => this.#write(change))
    this.notices = sqliteNotices(
      db,
      read,
      // A notice that a power cut restores is delivered again.
      change => this.#write(change, { isUnflushed: true }),
      () => this.#clock.now(),
    )
    this.live = sqliteLive(
      db,
      read,
      change => this.#write(change, { isUnflushed: true }),
      ({ tenant, conversation }) => this.#hints.publish({ tenant, conversation, kind: 'text' }),
    )
  }

  commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    return called(at, decide, call => {
      this.#check()
      this.#group.add(call)
    })
  }

  async now(): Promise<Instant> {
    return this.#read(() => this.#clock.now())
  }

  async load(ref: Ref): Promise<Conversation> {
    return this.#read(() => this.#log.current(ref))
  }

  async eventsAfter(...args: Parameters<Store['eventsAfter']>): Promise<readonly StoredEvent[]> {
    return this.#read(() => this.#log.eventsAfter(...args))
  }

  changes(signal: AbortSignal): ReturnType<Store['changes']> {
    this.#check()
    return this.#read(() => this.#hints.subscribe(signal))
  }

  claim(runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined> {
    return this.#writeLease(() => this.#leases.claim(runner, ttlMs, options))
  }

  async served(need: Need): Promise<boolean> {
    return this.#read(() => this.#leases.served(need))
  }

  renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#writeLease(() => this.#leases.renew(lease, ttlMs))
  }

  release(lease: Lease): Promise<void> {
    return this.#writeLease(() => this.#leases.release(lease))
  }

  /** Fails if nothing can be written, because due reviews could not be expired. */
  async due(limit: number): ReturnType<Store['due']> {
    return this.#read(() => {
      this.#files.check()
      return this.#leases.due(limit)
    })
  }

  async importLog(ref: Ref, commits: Iterable<Commit>): Promise<void> {
    const { after, done } = await this.#write(() => {
      if (this.#log.current(ref).seq > 0) throw logExists()
      let last = { after: emptyConversation(ref.conversation), done: () => {} }
      for (const piece of piecesOf(ref, commits)) last = { after: piece.after, done: this.#log.write(ref, piece) }
      this.#options.onWrite?.(this.#db, ref, last.after)
      return last
    })
    done()
    this.#hints.publish({ ...ref, kind: 'log', seq: after.seq })
  }

  async probe({ room }: { readonly room: boolean }): Promise<void> {
    // Rewrites the current format under the lock: that writes and flushes a page and changes no row.
    await this.#write(() => this.#db.exec(`PRAGMA user_version = ${Number(pragma(this.#db, 'user_version'))}`))
    if (room) proveRoom(dirname(this.#options.path))
  }

  lost(): StoreError | undefined {
    this.#check()
    return this.#files.lost()
  }

  verifiable(): Verifiable {
    return this.#read(() => sqliteVerifiable(this.#db))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#group.idle()
    await this.#indexing.stop()
    try {
      // Our `-wal` must not stay next to another database.
      this.#files.lost()
    } catch {
      // Cannot be checked, so there is nothing to move away.
    }
    this.#db.close()
    this.#head.close()
  }

  /** Serves all calls in one transaction: decides one after the other, flushes once, then answers. */
  #serve(calls: readonly Call[], since: number): Promise<void> | undefined {
    // Fast path without a promise: usually the lock is free and nothing fails.
    try {
      if (!this.#lock.ran(this.#begin)) return this.#serveOnceFree(calls, since)
      return this.#commitTogether(calls) && this.#serveAlone(calls, since)
    } catch (error) {
      for (const call of calls) call.reject(error)
      return undefined
    }
  }

  async #serveOnceFree(calls: readonly Call[], since: number): Promise<void> {
    try {
      if (await this.#whenFree(() => this.#commitTogether(calls), since)) await this.#serveAlone(calls, since)
    } catch (error) {
      for (const call of calls) call.reject(error)
    }
  }

  /** Each in its own transaction: one that cannot be written must not fail the others. */
  async #serveAlone(calls: readonly Call[], since: number): Promise<void> {
    for (const call of calls) {
      try {
        const failed = await this.#whenFree(() => this.#commitTogether([call]), since)
        if (failed) call.reject(failed.error)
      } catch (error) {
        call.reject(error)
      }
    }
  }

  /**
   * Runs a whole transaction once the lock is free. Never awaits while holding the lock, because a stopped process
   * would keep it.
   */
  #whenFree<T>(transaction: () => T, since?: number): Promise<T> {
    return this.#lock.whenFree(() => {
      this.#begin()
      return transaction()
    }, since)
  }

  /** Ends the open transaction. Returns a failure from before COMMIT, in which case no call was answered. */
  #commitTogether(calls: readonly Call[]): { error: unknown } | undefined {
    const { onFaultPoint, onWrite } = this.#options
    let groups: { ref: Ref; staged: Staged; done: () => void }[]
    try {
      onFaultPoint?.('begun')
      groups = this.#stage(calls).map(({ ref, staged }) => ({
        ref,
        staged,
        done: this.#log.write(ref, staged),
      }))
      for (const { ref, staged } of groups) this.notices.add(ref, staged.commits)
      onFaultPoint?.('staged')
      for (const { ref, staged } of groups) if (staged.commits.length > 0) onWrite?.(this.#db, ref, staged.after)
      onFaultPoint?.('written')
    } catch (error) {
      this.#rollback()
      return { error: this.#explained(error) }
    }
    const writes = groups.some(({ staged }) => staged.commits.length > 0 || staged.keys.length > 0)
    try {
      if (writes) this.#commit()
      else {
        this.#files.check()
        this.#rollback()
      }
    } catch (error) {
      this.#rollback()
      for (const { staged } of groups) {
        staged.rejectRefused()
        staged.reject(toStoreError(error))
      }
      return undefined
    }
    onFaultPoint?.('committed')
    this.#indexing.note()
    this.#noteHead()
    onFaultPoint?.('noted')
    for (const { ref, staged, done } of groups) {
      done()
      staged.rejectRefused()
      staged.resolve()
      if (staged.commits.length > 0) this.#hints.publish({ ...ref, kind: 'log', seq: staged.after.seq })
    }
    return undefined
  }

  #stage(calls: readonly Call[]): { ref: Ref; staged: Staged }[] {
    return byConversation(calls).map(({ ref, calls: group }) => {
      const basis = {
        state: this.#log.current(ref),
        key: (key: string) => this.#log.key(ref, key),
        attempt: (turn: string) => this.#log.attempt(ref, turn),
      }
      return { ref, staged: stage(group, basis, this.#clock.now()) }
    })
  }

  /**
   * Not flushed: after a power cut no leases remain. A commit under a lease also flushes the lease, which precedes it
   * in the WAL, so an attempt in the log is never issued twice.
   */
  #writeLease<T>(change: () => T): Promise<T> {
    return this.#write(change, { isUnflushed: true })
  }

  /** Runs a change in its own transaction. A power cut may lose one that is not flushed. */
  async #write<T>(change: () => T, { isUnflushed = false } = {}): Promise<T> {
    const transaction = (): T => {
      this.#begin()
      try {
        const value = change()
        this.#commit()
        this.#noteHead()
        return value
      } catch (error) {
        this.#rollback()
        throw this.#explained(error)
      }
    }
    return this.#lock.whenFree(() => {
      this.#check()
      return isUnflushed ? unflushed(this.#db, transaction) : transaction()
    })
  }

  #commit(): void {
    this.#files.check()
    this.#sql.commit.run()
  }

  #noteHead(): void {
    if (this.#written) this.#head.note(this.#written)
    this.#written = undefined
  }

  #read<T>(work: () => T): T {
    this.#check()
    try {
      return work()
    } catch (error) {
      throw this.#explained(error)
    }
  }

  #rollback(): void {
    this.#written = undefined
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
  }

  /** If the files are gone, that is the reason why they cannot be read. */
  #explained(failure: unknown): unknown {
    const error = toStoreError(failure)
    const isUnreadable = error instanceof StoreError && (error.code === 'corrupt' || error.code === 'io')
    return isUnreadable ? (this.#files.lost() ?? error) : error
  }

  #check(): void {
    if (this.#closed) throw closed()
  }
}
