import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Conversation } from '../../core/model/conversation.ts'
import { decide } from '../../core/decide/index.ts'
import { attributed } from '../../core/model/decision.ts'
import { originOf } from '../../core/model/origin.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { EventType } from '../../core/model/event.ts'
import { StoreError, closed } from '../store-error.ts'
import type { At, Commit, Committed, Decide, FullStore, Ref, Store } from '../store.ts'
import { Group, byConversation, called, type Call } from '../stage.ts'
import { SqliteStore, openSqlite, type SqliteStoreOptions } from '../sqlite/store.ts'
import type { Verifiable } from '../verify.ts'
import { fileProblems } from './files.ts'
import { invalid } from './document.ts'
import { Mirror, filePathOf, type FileFaultPoint } from './mirror.ts'

/** Retries while another program keeps writing the file. */
const MAX_RETRIES = 20

export interface FileStoreOptions {
  readonly data: string
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: FileFaultPoint) => void
}

/**
 * SQLite mirrored to JSON files. Each commit imports edits from the file, decides, commits, writes the file, then
 * answers.
 */
export async function openFileStore(options: FileStoreOptions): Promise<FullStore> {
  const { data, skewMs, onFaultPoint = () => {} } = options
  const path = join(data, 'runsheet.db')
  const mirror = new Mirror(data, onFaultPoint)
  const sqlite: SqliteStoreOptions = {
    path,
    ...(skewMs ? { skewMs } : {}),
    onFaultPoint,
    onWrite: (db, ref, after) => mirror.prepare(db, ref, after),
  }
  const store = await openSqlite(sqlite, db => new FileStore(db, sqlite, data, mirror))
  try {
    mirror.open()
    await store.sweep()
    return store
  } catch (error) {
    await store.close()
    throw openError(error, data)
  }
}

/** These messages contain the path: only operators see failures to open. */
function openError(error: unknown, data: string): unknown {
  if (!(error instanceof StoreError) || error.file === undefined) return error
  const message = `${join(data, error.file)} cannot be used: ${error.detail}. Put a folder in its place, or remove it.`
  return new StoreError(error.code, message, { cause: error })
}

class FileStore extends SqliteStore {
  readonly #data: string
  readonly #mirror: Mirror
  readonly #group = new Group<Call>((calls, since) => this.#serve(calls, since))
  readonly #db: DatabaseSync
  readonly #broken = new Map<string, StoreError>()
  #closed = false

  constructor(db: DatabaseSync, options: SqliteStoreOptions, data: string, mirror: Mirror) {
    super(db, options)
    this.#data = data
    this.#mirror = mirror
    this.#db = db
  }

  override async commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    this.#check()
    return called(at, decide, call => this.#group.add(call))
  }

  override async load(ref: Ref, need?: 'list'): Promise<Conversation> {
    await this.#sync(ref).catch((error: unknown) => {
      if (need === 'list' || !isInvalid(error)) throw error
    })
    return super.load(ref)
  }

  override async due(limit: number): ReturnType<Store['due']> {
    const due = await super.due(limit)
    try {
      this.#mirror.check()
    } catch (error) {
      throw this.#causeOf(error)
    }
    return due
  }

  override verifiable(): Verifiable {
    const inner = super.verifiable()
    const [data, db] = [this.#data, this.#db]
    return {
      ...inner,
      problems: async function* () {
        yield* inner.problems()
        yield* fileProblems(data, db)
      },
    }
  }

  override async importLog(ref: Ref, commits: Iterable<Commit>): Promise<void> {
    this.#check()
    await this.#exclusively(async () => {
      if (!this.#mirror.isUnused(this.#db, ref)) throw fileExists(ref)
      await super.importLog(ref, commits)
      await this.#publish(ref)
    })
  }

  override async probe(options: { readonly room: boolean }): Promise<void> {
    this.#check()
    await super.probe(options)
    await this.#exclusively(async () => this.#mirror.probe())
  }

  override async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#group.idle()
    await this.#mirror.close()
    await super.close()
  }

  async sweep(): Promise<void> {
    await this.#exclusively(async () => this.#mirror.sweep())
  }

  async #serve(calls: readonly Call[], since: number): Promise<void> {
    try {
      const lost = this.lost()
      if (lost) throw lost
      await this.#exclusively(() => this.#serveLocked(calls), since)
    } catch (error) {
      // No call was served.
      for (const call of calls) call.reject(error)
    }
  }

  async #serveLocked(calls: readonly Call[]): Promise<void> {
    // By `ref`, without the key: imported edits must not be stored under it.
    const served = byConversation(calls).map(async ({ ref, calls: group }) => {
      try {
        await this.#naming(ref, () => this.#look(ref))
      } catch (error) {
        await this.#serveUnreadable(group, error)
        return
      }
      const outcomes = await Promise.allSettled(group.map(({ at, decide }) => super.commit(at, decide)))
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

  /** While the file is invalid, the conversation continues, but calls that change the list fail. */
  async #serveUnreadable(calls: readonly Call[], error: unknown): Promise<void> {
    for (const { at, decide, resolve, reject } of calls) {
      if (!isInvalid(error)) reject(error)
      else {
        const commit = (): Promise<Committed<unknown>> => super.commit(at, exceptList(decide, error))
        await this.#mirror.leaveAlone(at, commit).then(resolve, reject)
      }
    }
  }

  /** Imports edits from the file before the list is read. If nothing can be written, only the log is read. */
  async #sync(ref: Ref): Promise<void> {
    this.#check()
    if (this.lost()) return
    await this.#naming(ref, async () => {
      if (!this.#mirror.inSync(this.#db, ref)) await this.#exclusively(() => this.#look(ref))
    })
  }

  /** Adds the path of the broken file. The same failure returns the same error object, so that it is logged once. */
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

  /** Syncs log and file: imports edits, and completes a write that a crash interrupted. */
  async #look(ref: Ref): Promise<void> {
    const took = await this.#importEdits(ref)
    if (!took && this.#mirror.isUnpublished(this.#db, ref)) await this.#refresh(ref)
    await this.#publish(ref)
  }

  /** Returns whether it changed the list. */
  async #importEdits(ref: Ref): Promise<boolean> {
    const command = await this.#mirror.look(this.#db, ref, await super.load(ref))
    if (!command) return false
    try {
      const { events } = await super.commit(ref, (current, now) => {
        const events = decide(current, command, now)
        if (events instanceof Refusal) throw events
        return { events: attributed(events, originOf('program', 'file')), value: null }
      })
      return events.length > 0
    } catch (error) {
      throw error instanceof Refusal ? invalid(error) : error
    }
  }

  /** Another program's concurrent edits are imported first. */
  async #publish(ref: Ref): Promise<void> {
    for (let tries = 0; await this.#mirror.publish(this.#db, ref); tries += 1) {
      if (tries === MAX_RETRIES) throw new StoreError('busy', 'Another program keeps writing to the task file.')
      if (!(await this.#importEdits(ref))) await this.#refresh(ref)
    }
  }

  async #refresh(ref: Ref): Promise<void> {
    await this.#mirror.refresh(this.#db, ref, await super.load(ref))
  }

  async #exclusively<T>(work: () => Promise<T>, since?: number): Promise<T> {
    try {
      return await this.#mirror.exclusively(work, since)
    } catch (error) {
      throw this.#causeOf(error)
    }
  }

  /** If the database was replaced together with its folder, report the database. */
  #causeOf(error: unknown): unknown {
    return error instanceof StoreError && error.code === 'replaced' ? (this.lost() ?? error) : error
  }

  #check(): void {
    if (this.#closed) throw closed()
  }
}

const fileExists = (ref: Ref): StoreError =>
  new StoreError('id_taken', `There is a task file of this name already (${filePathOf(ref)}); nothing was written.`)

const isInvalid = (error: unknown): error is StoreError => error instanceof StoreError && error.code === 'file_invalid'

const LIST_EVENTS: ReadonlySet<EventType> = new Set(['task_created', 'task_changed', 'task_removed'])

/** Makes the same decision, but throws if it changes the list. */
const exceptList =
  <T>(decide: Decide<T>, error: unknown): Decide<T> =>
  (state, now) => {
    const decision = decide(state, now)
    if ('events' in decision && decision.events.some(({ type }) => LIST_EVENTS.has(type))) throw error
    return decision
  }
