import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Conversation } from '../../domain/conversation.ts'
import { decide } from '../../domain/decide/index.ts'
import { attributed } from '../../domain/decision.ts'
import { originOf } from '../../domain/origin.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { EventType, StoredEvent } from '../../domain/event.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Need } from '../../domain/needs.ts'
import { closed, StoreError } from '../store-error.ts'
import type { Commit } from '../commit.ts'
import { Group } from '../group.ts'
import type { Call } from '../stage.ts'
import { type At, type Committed, type Decide, type Lease, type Ref, refKey, type Store } from '../store.ts'
import { connectUnflushed, retryWhileBusy } from '../sqlite/open.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite/store.ts'
import type { Verifiable } from '../verify.ts'
import { fileProblems } from './file-problems.ts'
import { invalid } from './document.ts'
import { type FileFaultPoint, filePathOf, Mirror } from './mirror.ts'

/** Retries while another program keeps writing to the file. */
const MAX_RETRIES = 20

export interface FileStoreOptions {
  /** The data folder: files in `.agents/tasks`, the log in `runsheet.db`. */
  readonly data: string
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: FileFaultPoint) => void
}

/** SQLite mirrored to JSON files: imports edits from the file, decides, commits, writes the file, answers. */
export async function openFileStore({ data, skewMs, onFaultPoint = () => {} }: FileStoreOptions): Promise<Store> {
  const path = join(data, 'runsheet.db')
  const mirror = new Mirror(data, onFaultPoint)
  const inner = await openSqliteStore({
    path,
    ...(skewMs ? { skewMs } : {}),
    onFaultPoint,
    onWrite: (db, ref, after) => mirror.prepare(db, ref, after),
  })
  try {
    mirror.open()
    const store = new FileStore(data, inner, mirror, await retryWhileBusy(() => connectUnflushed(path)))
    await store.sweep().catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    return store
  } catch (error) {
    await inner.close()
    throw openError(error, data)
  }
}

/** Only operators see failures to open: these messages name the path. */
function openError(error: unknown, data: string): unknown {
  if (!(error instanceof StoreError) || error.file === undefined) return error
  const message = `${join(data, error.file)} cannot be used: ${error.detail}. Put a folder in its place, or remove it.`
  return new StoreError(error.code, message, { cause: error })
}

class FileStore implements Store {
  readonly queries: Store['queries']
  readonly search: Store['search']
  readonly templates: Store['templates']
  readonly live: Store['live']
  readonly notices: Store['notices']
  readonly #data: string
  readonly place: string
  readonly #inner: SqliteStore
  readonly #mirror: Mirror
  readonly #group = new Group<Call>((calls, since) => this.#serve(calls, since))
  /** For reads, and for writes that need no flush. */
  readonly #db: DatabaseSync
  /** The files that cannot be read, by path. */
  readonly #broken = new Map<string, StoreError>()
  #closed = false

  constructor(data: string, inner: SqliteStore, mirror: Mirror, db: DatabaseSync) {
    this.#data = data
    this.#inner = inner
    this.#mirror = mirror
    this.#db = db
    this.queries = inner.queries
    this.search = inner.search
    this.templates = inner.templates
    this.live = inner.live
    this.notices = inner.notices
    this.place = inner.place
  }

  async commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    this.#check()
    return new Promise<Committed<T>>((resolve, reject) => {
      this.#group.add({ at, decide, resolve: resolve as Call['resolve'], reject })
    })
  }

  async now(): Promise<Instant> {
    return this.#inner.now()
  }

  async load(ref: Ref, need?: 'list'): Promise<Conversation> {
    await this.#sync(ref).catch((error: unknown) => {
      if (need === 'list' || !isInvalid(error)) throw error
    })
    return this.#inner.load(ref)
  }

  async eventsAfter(...args: Parameters<Store['eventsAfter']>): Promise<readonly StoredEvent[]> {
    return this.#inner.eventsAfter(...args)
  }

  changes(signal: AbortSignal): ReturnType<Store['changes']> {
    return this.#inner.changes(signal)
  }

  async claim(...args: Parameters<Store['claim']>): Promise<Lease | undefined> {
    return this.#inner.claim(...args)
  }

  async served(need: Need): Promise<boolean> {
    return this.#inner.served(need)
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#inner.renew(lease, ttlMs)
  }

  async release(lease: Lease): Promise<void> {
    return this.#inner.release(lease)
  }

  async due(limit: number): ReturnType<Store['due']> {
    const due = await this.#inner.due(limit)
    try {
      this.#mirror.check()
    } catch (error) {
      throw this.#causeOf(error)
    }
    return due
  }

  verifiable(): Verifiable {
    const inner = this.#inner.verifiable()
    const [data, db] = [this.#data, this.#db]
    return {
      ...inner,
      problems: async function* () {
        yield* inner.problems()
        yield* fileProblems(data, db)
      },
    }
  }

  async importLog(ref: Ref, commits: Iterable<Commit>): Promise<void> {
    this.#check()
    await this.#exclusively(async () => {
      if (!this.#mirror.isUnused(this.#db, ref)) throw fileExists(ref)
      await this.#inner.importLog(ref, commits)
      await this.#publish(ref)
    })
  }

  async probe(options: { readonly room: boolean }): Promise<void> {
    this.#check()
    await this.#inner.probe(options)
    await this.#exclusively(async () => this.#mirror.probe())
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#group.idle()
    await this.#mirror.close()
    this.#db.close()
    await this.#inner.close()
  }

  /** Removes temporary files of dead processes. */
  async sweep(): Promise<void> {
    await this.#exclusively(async () => this.#mirror.sweep())
  }

  async #serve(calls: readonly Call[], since: number): Promise<void> {
    try {
      const lost = this.#inner.lost()
      if (lost) throw lost
      await this.#exclusively(() => this.#serveLocked(calls), since)
    } catch (error) {
      // No call was served.
      for (const call of calls) call.reject(error)
    }
  }

  async #serveLocked(calls: readonly Call[]): Promise<void> {
    const groups = [...Map.groupBy(calls, ({ at }) => refKey(at)).values()]
    const served = groups.map(async group => {
      const [first] = group
      if (!first) return
      // Without the key: imported edits must not be stored under it.
      const { tenant, conversation } = first.at
      const ref = { tenant, conversation }
      try {
        await this.#naming(ref, () => this.#look(ref))
      } catch (error) {
        await this.#serveUnreadable(group, error)
        return
      }
      const outcomes = await Promise.allSettled(group.map(({ at, decide }) => this.#inner.commit(at, decide)))
      const unwritten = await this.#publish(ref).then(
        () => undefined,
        (cause: unknown) =>
          new StoreError('unknown_outcome', 'The change was saved, but the task file could not be written.', { cause }),
      )
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'rejected') group[index]?.reject(outcome.reason)
        else if (unwritten) group[index]?.reject(unwritten)
        else group[index]?.resolve(outcome.value)
      }
    })
    await Promise.all(served)
  }

  /** While the file is invalid, the conversation goes on, but nothing changes the list. */
  async #serveUnreadable(calls: readonly Call[], error: unknown): Promise<void> {
    for (const { at, decide, resolve, reject } of calls) {
      if (!isInvalid(error)) reject(error)
      else {
        const commit = (): Promise<Committed<unknown>> => this.#inner.commit(at, exceptList(decide, error))
        await this.#mirror.leaveAlone(at, commit).then(resolve, reject)
      }
    }
  }

  /** Imports edits from the file before the list is read. Where nothing can be written, the log alone is read. */
  async #sync(ref: Ref): Promise<void> {
    this.#check()
    if (this.#inner.lost()) return
    await this.#naming(ref, async () => {
      if (!this.#mirror.inSync(this.#db, ref)) await this.#exclusively(() => this.#look(ref))
    })
  }

  /** Names the file that is broken. The same failure is the same error, so that it can be logged once. */
  async #naming(ref: Ref, look: () => Promise<void>): Promise<void> {
    const file = filePathOf(ref)
    try {
      await look()
      this.#broken.delete(file)
    } catch (error) {
      if (!isInvalid(error)) throw error
      const known = this.#broken.get(file)
      if (known && known.detail === error.detail) throw known
      const named = invalid(error.cause, error.file ?? file)
      this.#broken.set(file, named)
      throw named
    }
  }

  /** Brings log and file in line: imports edits, and completes a write that a crash cut short. */
  async #look(ref: Ref): Promise<void> {
    const took = await this.#importEdits(ref)
    if (!took && this.#mirror.isUnpublished(this.#db, ref)) await this.#refresh(ref)
    await this.#publish(ref)
  }

  /** Whether it changed the list. */
  async #importEdits(ref: Ref): Promise<boolean> {
    const command = await this.#mirror.look(this.#db, ref, await this.#inner.load(ref))
    if (!command) return false
    try {
      const { events } = await this.#inner.commit(ref, (current, now) => {
        const events = decide(current, command, now)
        if (events instanceof Refusal) throw events
        return { events: attributed(events, originOf('program', 'file')), value: null }
      })
      return events.length > 0
    } catch (error) {
      throw error instanceof Refusal ? invalid(error) : error
    }
  }

  /** Edits that another program makes at the same time come first. */
  async #publish(ref: Ref): Promise<void> {
    for (let tries = 0; await this.#mirror.publish(this.#db, ref); tries += 1) {
      if (tries === MAX_RETRIES) throw new StoreError('busy', 'Another program keeps writing to the task file.')
      if (!(await this.#importEdits(ref))) await this.#refresh(ref)
    }
  }

  async #refresh(ref: Ref): Promise<void> {
    await this.#mirror.refresh(this.#db, ref, await this.#inner.load(ref))
  }

  async #exclusively<T>(work: () => Promise<T>, since?: number): Promise<T> {
    try {
      return await this.#mirror.exclusively(work, since)
    } catch (error) {
      throw this.#causeOf(error)
    }
  }

  /** Where the database was replaced with its folder, the folder is only a part of that. */
  #causeOf(error: unknown): unknown {
    return error instanceof StoreError && error.code === 'replaced' ? (this.#inner.lost() ?? error) : error
  }

  #check(): void {
    if (this.#closed) throw closed()
  }
}

const fileExists = (ref: Ref): StoreError =>
  new StoreError('id_taken', `There is a task file of this name already (${filePathOf(ref)}); nothing was written.`)

const isInvalid = (error: unknown): error is StoreError => error instanceof StoreError && error.code === 'file_invalid'

const LIST_EVENTS: ReadonlySet<EventType> = new Set(['task_created', 'task_changed', 'task_removed'])

/** The same decision, unless it touches the list. */
const exceptList =
  <T>(decide: Decide<T>, error: unknown): Decide<T> =>
  (state, now) => {
    const decision = decide(state, now)
    if ('events' in decision && decision.events.some(({ type }) => LIST_EVENTS.has(type))) throw error
    return decision
  }
