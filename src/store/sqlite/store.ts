import type { DatabaseSync } from 'node:sqlite'
import { type Conversation } from '../../domain/conversation.ts'
import type { StoredEvent } from '../../domain/event.ts'
import { type Instant, instantOf, plusMs } from '../../domain/instant.ts'
import { closed } from '../errors.ts'
import { Group } from '../group.ts'
import { type Hints, refKey } from '../hints.ts'
import { type Call, stage, type Staged } from '../stage.ts'
import type { At, Committed, Decide, Lease, LiveText, Queries, Ref, Store, Templates } from '../store.ts'
import { storeError } from './errors.ts'
import { SqliteLog } from './log.ts'
import { begin, connect, openDatabase, tried } from './open.ts'
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
  readonly change: () => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const isCall = (item: Call | Errand): item is Call => 'decide' in item

export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const db = await openDatabase(options.path)
  return new SqliteStore(db, options)
}

export class SqliteStore implements Store {
  readonly queries: Queries
  readonly templates: Templates
  readonly live: LiveText
  readonly #db: DatabaseSync
  readonly #liveDb: DatabaseSync
  readonly #log: SqliteLog
  readonly #hints: Hints
  readonly #options: SqliteStoreOptions
  readonly #sql
  /** Everything that writes takes its turn here: a connection holds one transaction at a time. */
  readonly #group = new Group<Call | Errand>(items => this.#serve(items))
  readonly #begin = (): unknown => this.#sql.begin.run()
  #closed = false

  constructor(db: DatabaseSync, options: SqliteStoreOptions) {
    this.#db = db
    this.#options = options
    this.#log = new SqliteLog(db)
    this.#hints = watchedHints(db)
    this.#sql = statements(db)
    const check = (): void => this.#check()
    this.queries = sqliteQueries(db, check)
    this.templates = sqliteTemplates(db, check, change => this.#write(change))
    this.#liveDb = connect(options.path)
    this.#liveDb.exec('PRAGMA synchronous = OFF')
    this.live = this.#liveText()
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
    return this.#hints.subscribe(signal)
  }

  async claim(runner: string, ttlMs: number, wanted?: Ref & { turn: string }): Promise<Lease | undefined> {
    let lease: Lease | undefined
    await this.#write(() => {
      const now = this.#now()
      const row = wanted
        ? this.#sql.claimWanted.get(runner, plusMs(now, ttlMs), wanted.tenant, wanted.conversation, wanted.turn, now)
        : this.#sql.claimAny.get(runner, plusMs(now, ttlMs), now)
      if (row) lease = { ...row } as unknown as Lease
    })
    return lease
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    let held = false
    await this.#write(() => {
      const { tenant, conversation, turn, attempt } = lease
      held = this.#sql.renew.run(plusMs(this.#now(), ttlMs), tenant, conversation, turn, attempt).changes > 0
    })
    return held
  }

  async release({ tenant, conversation, turn, attempt }: Lease): Promise<void> {
    await this.#write(() => this.#sql.release.run(tenant, conversation, turn, attempt))
  }

  async due(limit: number): ReturnType<Store['due']> {
    return this.#read(() => {
      const now = this.#now()
      const reviews = this.#sql.due.all(now, limit).map(row => ({ ...row }) as unknown as Ref & { review_id: string })
      const next = this.#sql.nextDue.get(now)?.['due_at']
      return { reviews, ...(typeof next === 'string' ? { next } : {}) }
    })
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
    if (!items.every(isCall) || !tried(this.#begin)) return this.#servePatiently(items)
    return this.#commitTogether(items) && this.#serveAlone(items)
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
      for (const { ref, staged } of groups) if (staged.events.length > 0) onWrite?.(this.#db, ref, staged.after)
      onFaultPoint?.('written')
    } catch (error) {
      this.#rollback()
      return { error: storeError(error) }
    }
    const writes = groups.some(({ staged }) => staged.events.length > 0 || staged.keys.length > 0)
    try {
      if (writes) this.#sql.commit.run()
      else this.#rollback()
    } catch (error) {
      this.#rollback()
      for (const { staged } of groups) {
        staged.rejectRefused()
        staged.reject(storeError(error))
      }
      return undefined
    }
    onFaultPoint?.('committed')
    for (const { ref, staged, done } of groups) {
      done()
      staged.rejectRefused()
      staged.resolve()
      if (staged.events.length > 0)
        this.#hints.publish({ tenant: ref.tenant, conversation: ref.conversation, seq: staged.after.seq })
    }
    return undefined
  }

  #stage(calls: readonly Call[]): { ref: Ref; staged: Staged }[] {
    const clock = this.#now()
    return [...Map.groupBy(calls, ({ at }) => refKey(at)).values()].flatMap(group => {
      const ref = group[0]?.at
      if (!ref) return []
      const ground = {
        state: this.#log.current(ref),
        key: (key: string) => this.#log.key(ref, key),
        attempt: (turn: string) => this.#log.attempt(ref, turn),
      }
      return [{ ref, staged: stage(group, ground, clock) }]
    })
  }

  /** A small write of its own, with the same patience and the same flush. */
  #write(change: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#check()
      this.#group.add({ change, resolve, reject })
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
      return { error: storeError(error) }
    }
  }

  #read<T>(work: () => T): T {
    this.#check()
    try {
      return work()
    } catch (error) {
      throw storeError(error)
    }
  }

  #liveText(): LiveText {
    const db = this.#liveDb
    const put = db.prepare(
      'INSERT OR REPLACE INTO live (tenant, conversation, turn_id, message_id, text) VALUES (?, ?, ?, ?, ?)',
    )
    const get = db.prepare('SELECT turn_id, message_id, text FROM live WHERE tenant = ? AND conversation = ?')
    const remove = db.prepare('DELETE FROM live WHERE tenant = ? AND conversation = ?')
    return {
      write: async (ref, { turn_id, message_id, text }) => {
        this.#check()
        await begin(() => put.run(ref.tenant, ref.conversation, turn_id, message_id, text))
        this.#hints.publish({ tenant: ref.tenant, conversation: ref.conversation, seq: this.#log.current(ref).seq })
      },
      read: async ref => {
        this.#check()
        const row = get.get(ref.tenant, ref.conversation)
        return row && ({ ...row } as unknown as Awaited<ReturnType<LiveText['read']>>)
      },
      clear: async ref => {
        this.#check()
        await begin(() => remove.run(ref.tenant, ref.conversation))
      },
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

function statements(db: DatabaseSync) {
  const free = `status = 'running' AND parked = 0 AND (until IS NULL OR until <= ?)`
  const taken = 'RETURNING tenant, conversation, turn, attempt'
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    claimAny: db.prepare(
      `UPDATE turns SET runner = ?, until = ?, attempt = attempt + 1 WHERE (tenant, conversation, turn) =
         (SELECT tenant, conversation, turn FROM turns WHERE ${free} ORDER BY until LIMIT 1) ${taken}`,
    ),
    claimWanted: db.prepare(
      `UPDATE turns SET runner = ?, until = ?, attempt = attempt + 1
       WHERE tenant = ? AND conversation = ? AND turn = ? AND ${free} ${taken}`,
    ),
    renew: db.prepare(
      'UPDATE turns SET until = ? WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ? AND until IS NOT NULL',
    ),
    release: db.prepare(
      'UPDATE turns SET until = NULL, runner = NULL WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ?',
    ),
    due: db.prepare(
      'SELECT tenant, conversation, id AS review_id FROM reviews WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?',
    ),
    nextDue: db.prepare('SELECT min(due_at) AS due_at FROM reviews WHERE due_at > ?'),
  }
}
