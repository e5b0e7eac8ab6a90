import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Conversation } from '../../domain/conversation.ts'
import { decide } from '../../domain/decide/index.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { StoredEvent } from '../../domain/event.ts'
import type { Instant } from '../../domain/instant.ts'
import { closed, StoreError } from '../store-error.ts'
import { Batcher } from '../batcher.ts'
import type { Call } from '../stage.ts'
import { type At, type Committed, type Decide, type Lease, type Ref, refKey, type Store } from '../store.ts'
import { connectUnflushed, withBusyRetry } from '../sqlite/open.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite/store.ts'
import { invalid } from './document.ts'
import { type FileFaultPoint, FileSync } from './file-sync.ts'

/** How often another program may write first before a call fails as busy. */
const MAX_TRIES = 20

export interface FileStoreOptions {
  /** The data folder: files in `.agents/tasks`, the log in its database. */
  readonly data: string
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: FileFaultPoint) => void
}

/** A SQLite store whose lists are also JSON files. It imports other programs' edits before each command. */
export async function openFileStore({ data, skewMs, onFaultPoint = () => {} }: FileStoreOptions): Promise<Store> {
  const path = join(data, 'runsheet.db')
  const files = new FileSync(data, onFaultPoint)
  const inner = await openSqliteStore({
    path,
    ...(skewMs ? { skewMs } : {}),
    onFaultPoint,
    onWrite: (db, ref, after) => files.prepare(db, ref, after),
  })
  try {
    files.open()
    const store = new FileStore(inner, files, await withBusyRetry(() => connectUnflushed(path)))
    await store.sweep().catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    return store
  } catch (error) {
    await inner.close()
    throw error
  }
}

class FileStore implements Store {
  readonly queries: Store['queries']
  readonly templates: Store['templates']
  readonly live: Store['live']
  readonly #inner: SqliteStore
  readonly #files: FileSync
  readonly #batcher = new Batcher<Call>(calls => this.#serve(calls))
  /** For rows that need no flush. */
  readonly #db: DatabaseSync
  #closed = false

  constructor(inner: SqliteStore, files: FileSync, db: DatabaseSync) {
    this.#inner = inner
    this.#files = files
    this.#db = db
    this.queries = {
      ...inner.queries,
      tasks: async (ref, filter, page) => {
        await this.#sync(ref)
        return inner.queries.tasks(ref, filter, page)
      },
    }
    this.templates = inner.templates
    this.live = inner.live
  }

  async commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    this.#check()
    return new Promise<Committed<T>>((resolve, reject) => {
      this.#batcher.add({ at, decide, resolve: resolve as Call['resolve'], reject })
    })
  }

  async now(): Promise<Instant> {
    return this.#inner.now()
  }

  async load(ref: Ref): Promise<Conversation> {
    await this.#sync(ref)
    return this.#inner.load(ref)
  }

  async eventsAfter(ref: Ref, seq: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#inner.eventsAfter(ref, seq, limit)
  }

  changes(signal: AbortSignal): ReturnType<Store['changes']> {
    return this.#inner.changes(signal)
  }

  async claim(...args: Parameters<Store['claim']>): Promise<Lease | undefined> {
    return this.#inner.claim(...args)
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#inner.renew(lease, ttlMs)
  }

  async release(lease: Lease): Promise<void> {
    return this.#inner.release(lease)
  }

  async due(limit: number): ReturnType<Store['due']> {
    return this.#inner.due(limit)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#batcher.idle()
    await this.#files.close()
    this.#db.close()
    await this.#inner.close()
  }

  /** Removes what a process that died left behind. */
  async sweep(): Promise<void> {
    await this.#files.withLock(async () => this.#files.sweep())
  }

  async #serve(calls: readonly Call[]): Promise<void> {
    try {
      await this.#files.withLock(() => this.#serveLocked(calls))
    } catch (error) {
      // The lock was not available: no call was served.
      for (const call of calls) call.reject(error)
    }
  }

  async #serveLocked(calls: readonly Call[]): Promise<void> {
    const groups = [...Map.groupBy(calls, ({ at }) => refKey(at)).values()]
    const served = groups.map(async group => {
      const [first] = group
      if (!first) return
      // Without the call's key and lease: imported edits must not be stored under its key.
      const { tenant, conversation } = first.at
      const ref = { tenant, conversation }
      try {
        await this.#reconcile(ref)
      } catch (error) {
        for (const call of group) call.reject(error)
        return
      }
      const outcomes = await Promise.allSettled(group.map(({ at, decide }) => this.#inner.commit(at, decide)))
      const fileError = await this.#publish(ref).then(
        () => undefined,
        (cause: unknown) =>
          new StoreError('unknown_outcome', 'The change was saved, but the task file could not be written.', { cause }),
      )
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'rejected') group[index]?.reject(outcome.reason)
        else if (fileError) group[index]?.reject(fileError)
        else group[index]?.resolve(outcome.value)
      }
    })
    await Promise.all(served)
  }

  /** Before a read: reconciles if the file is not as we left it. */
  async #sync(ref: Ref): Promise<void> {
    this.#check()
    if (!this.#files.inSync(this.#db, ref)) await this.#files.withLock(() => this.#reconcile(ref))
  }

  /** Brings log and file together: imports other programs' edits and finishes a write that a crash interrupted. */
  async #reconcile(ref: Ref): Promise<void> {
    const imported = await this.#import(ref)
    if (!imported && this.#files.isInterrupted(this.#db, ref)) await this.#refresh(ref)
    await this.#publish(ref)
  }

  /** Commits what another program changed. Returns whether the list changed. */
  async #import(ref: Ref): Promise<boolean> {
    const command = await this.#files.readEdits(this.#db, ref, await this.#inner.load(ref))
    if (!command) return false
    try {
      const { events } = await this.#inner.commit(ref, (current, now) => {
        const events = decide(current, command, now)
        if (events instanceof Refusal) throw events
        return { events, value: null }
      })
      return events.length > 0
    } catch (error) {
      throw error instanceof Refusal ? invalid(error) : error
    }
  }

  /** If another program writes at the same moment, its edits are imported first. */
  async #publish(ref: Ref): Promise<void> {
    for (let tries = 0; await this.#files.publish(this.#db, ref); tries += 1) {
      if (tries === MAX_TRIES) throw new StoreError('busy', 'Another program keeps writing to the task file.')
      if (!(await this.#import(ref))) await this.#refresh(ref)
    }
  }

  async #refresh(ref: Ref): Promise<void> {
    await this.#files.refresh(this.#db, ref, await this.#inner.load(ref))
  }

  #check(): void {
    if (this.#closed) throw closed()
  }
}
