import type { DatabaseSync } from 'node:sqlite'
import { type Conversation } from '../../domain/conversation.ts'
import type { StoredEvent } from '../../domain/event.ts'
import { type Instant, instantOf } from '../../domain/instant.ts'
import { closed } from '../store-error.ts'
import { Group } from '../group.ts'
import type { Hints } from '../hints.ts'
import { type Call, stage, type Staged } from '../stage.ts'
import {
  type At,
  type Committed,
  type Decide,
  type Lease,
  type LiveText,
  type Queries,
  type Ref,
  refKey,
  type Store,
  type Templates,
} from '../store.ts'
import { toStoreError } from './to-store-error.ts'
import { SqliteLeases } from './leases.ts'
import { sqliteLive } from './live.ts'
import { SqliteLog } from './log.ts'
import { begin, connectUnflushed, openDatabase, patiently, tried } from './open.ts'
import { sqliteQueries, sqliteTemplates } from './queries.ts'
import { watchedHints } from './watch.ts'

/** Where a test may cut the power. */
export type SqliteFaultPoint = 'begun' | 'staged' | 'written' | 'committed'

export interface SqliteStoreOptions {
  readonly path: string
  /** Milliseconds that the store's clock is ahead of the machine's: lets tests pass a deadline. */
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: SqliteFaultPoint) => void
  /** Called within the transaction for each conversation that it changes; a throw turns its callers down. */
  readonly onWrite?: (db: DatabaseSync, ref: Ref, after: Conversation) => void
}

/** A write that decides nothing: a lease, a template. */
interface Errand {
  readonly change: () => unknown
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const isCall = (item: Call | Errand): item is Call => 'decide' in item

export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const db = await openDatabase(options.path)
  try {
    return new SqliteStore(db, await patiently(() => connectUnflushed(options.path)), options)
  } catch (error) {
    db.close()
    throw toStoreError(error)
  }
}

export class SqliteStore implements Store {
  readonly queries: Queries
  readonly templates: Templates
  readonly live: LiveText
  readonly #db: DatabaseSync
  readonly #liveDb: DatabaseSync
  readonly #log: SqliteLog
  readonly #leases: SqliteLeases
  readonly #hints: Hints
  readonly #options: SqliteStoreOptions
  readonly #sql
  /** Everything that writes takes its turn here: a connection holds one transaction at a time. */
  readonly #group = new Group<Call | Errand>(items => this.#serve(items))
  readonly #begin = (): unknown => this.#sql.begin.run()
  #closed = false

  constructor(db: DatabaseSync, liveDb: DatabaseSync, options: SqliteStoreOptions) {
    this.#db = db
    this.#options = options
    this.#log = new SqliteLog(db)
    this.#hints = watchedHints(db)
    this.#leases = new SqliteLeases(db)
    this.#sql = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT') }
    this.queries = sqliteQueries(
      db,
      work => this.#read(work),
      ref => this.#log.current(ref),
      () => this.#now(),
    )
    this.templates = sqliteTemplates(
      db,
      work => this.#read(work),
      change => this.#write(change),
    )
    this.#liveDb = liveDb
    this.live = sqliteLive(
      this.#liveDb,
      work => this.#read(work),
      ({ tenant, conversation }) => this.#hints.publish({ tenant, conversation, kind: 'text' }),
    )
  }

  commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    return new Promise<Committed<T>>((resolve, reject) => {
      this.#check()
      this.#group.add({ at, decide, resolve: resolve as Call['resolve'], reject })
    })
  }

  async now(): Promise<Instant> {
    this.#check()
    return this.#now()
  }

  async load(ref: Ref): Promise<Conversation> {
    return this.#read(() => this.#log.current(ref))
  }

  async eventsAfter(ref: Ref, seq: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#read(() => this.#log.eventsAfter(ref, seq, limit))
  }

  changes(signal: AbortSignal): ReturnType<Store['changes']> {
    this.#check()
    return this.#read(() => this.#hints.subscribe(signal))
  }

  claim(runner: string, ttlMs: number, wanted?: Ref & { turn: string }): Promise<Lease | undefined> {
    return this.#write(() => this.#leases.claim(this.#now(), runner, ttlMs, wanted))
  }

  renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#write(() => this.#leases.renew(this.#now(), lease, ttlMs))
  }

  release(lease: Lease): Promise<void> {
    return this.#write(() => this.#leases.release(lease))
  }

  async due(limit: number): ReturnType<Store['due']> {
    return this.#read(() => this.#leases.due(this.#now(), limit))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#group.idle()
    this.#liveDb.close()
    this.#db.close()
  }

  /** One transaction for everybody who came: decided one after the other, flushed once, answered after that. */
  #serve(items: readonly (Call | Errand)[]): Promise<void> | undefined {
    // Most often the lock is free and all goes well: that takes no promise.
    try {
      if (!items.every(isCall) || !tried(this.#begin)) return this.#servePatiently(items)
      return this.#commitTogether(items) && this.#serveAlone(items)
    } catch (error) {
      for (const item of items) item.reject(error)
      return undefined
    }
  }

  async #servePatiently(items: readonly (Call | Errand)[]): Promise<void> {
    const calls = items.filter(isCall)
    if (calls.length > 0) {
      try {
        await begin(this.#begin)
        if (this.#commitTogether(calls)) await this.#serveAlone(calls)
      } catch (error) {
        for (const call of calls) call.reject(error)
      }
    }
    await this.#serveAlone(items.filter(item => !isCall(item)))
  }

  /** Each in a transaction of its own: one that cannot be written must not take the others with it. */
  async #serveAlone(items: readonly (Call | Errand)[]): Promise<void> {
    for (const item of items) {
      try {
        await begin(this.#begin)
        const failed = isCall(item) ? this.#commitTogether([item]) : this.#run(item)
        if (failed) item.reject(failed.error)
      } catch (error) {
        item.reject(error)
      }
    }
  }

  /** Within the open transaction, and to its end. Says what failed before the commit: nobody was answered then. */
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
      onFaultPoint?.('staged')
      for (const { ref, staged } of groups) if (staged.commits.length > 0) onWrite?.(this.#db, ref, staged.after)
      onFaultPoint?.('written')
    } catch (error) {
      this.#rollback()
      return { error: toStoreError(error) }
    }
    const writes = groups.some(({ staged }) => staged.commits.length > 0 || staged.keys.length > 0)
    try {
      if (writes) this.#sql.commit.run()
      else this.#rollback()
    } catch (error) {
      this.#rollback()
      for (const { staged } of groups) {
        staged.rejectRefused()
        staged.reject(toStoreError(error))
      }
      return undefined
    }
    onFaultPoint?.('committed')
    for (const { ref, staged, done } of groups) {
      done()
      staged.rejectRefused()
      staged.resolve()
      if (staged.commits.length > 0) this.#hints.publish({ ...ref, kind: 'log', seq: staged.after.seq })
    }
    return undefined
  }

  #stage(calls: readonly Call[]): { ref: Ref; staged: Staged }[] {
    const clock = this.#now()
    return [...Map.groupBy(calls, ({ at }) => refKey(at)).values()].flatMap(group => {
      const [first] = group
      if (!first) return []
      const ref = { tenant: first.at.tenant, conversation: first.at.conversation }
      const ground = {
        state: this.#log.current(ref),
        key: (key: string) => this.#log.key(ref, key),
        attempt: (turn: string) => this.#log.attempt(ref, turn),
      }
      return [{ ref, staged: stage(group, ground, clock) }]
    })
  }

  /** A small write of its own, with the same patience and the same flush. */
  #write<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#check()
      let value: T
      this.#group.add({ change: () => (value = change()), resolve: () => resolve(value), reject })
    })
  }

  #run({ change, resolve }: Errand): { error: unknown } | undefined {
    try {
      change()
      this.#sql.commit.run()
      resolve()
      return undefined
    } catch (error) {
      this.#rollback()
      return { error: toStoreError(error) }
    }
  }

  #read<T>(work: () => T): T {
    this.#check()
    try {
      return work()
    } catch (error) {
      throw toStoreError(error)
    }
  }

  #rollback(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
  }

  #now(): Instant {
    return instantOf(Date.now() + (this.#options.skewMs?.() ?? 0))
  }

  #check(): void {
    if (this.#closed) throw closed()
  }
}
