import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { v7 } from 'uuid'
import { type Conversation, listed } from '../../domain/conversation.ts'
import { StoreError } from '../store-error.ts'
import { Lru } from '../lru.ts'
import { toStoreError } from '../sqlite/to-store-error.ts'
import { begin } from '../sqlite/open.ts'
import type { SqliteFaultPoint } from '../sqlite/store.ts'
import { LOCAL_TENANT, type Ref } from '../store.ts'
import { EMPTY, type Extra, fileIdOf, fileNameOf, parse, parseExactly, render, type TaskDocument } from './document.ts'
import { TaskFiles } from './files.ts'
import { FolderLock } from './lock.ts'
import { takeIn } from './take-in.ts'

export type FileFaultPoint = SqliteFaultPoint | 'looked' | 'prepared' | 'renamed'

interface FileRow {
  readonly tenant: string
  readonly conversation: string
  readonly content: string | null
  readonly previous: string | null
  readonly settled: number
  readonly extras: string
}

/** A file as it was found when its conversation was last looked at. */
interface Found {
  readonly text: string | null
  readonly document: TaskDocument
  readonly extras: Readonly<Record<string, Extra>>
}

/** What the files hold, beside what the database says that they hold. */
export class Mirror {
  readonly #files: TaskFiles
  readonly #lock: FolderLock
  readonly #onFaultPoint: (point: FileFaultPoint) => void
  readonly #found = new Lru<Found>(1_000)
  /** Texts that are written aside and wait for their commit. */
  readonly #prepared = new Map<string, { readonly aside: string; readonly text: string }>()

  constructor(data: string, onFaultPoint: (point: FileFaultPoint) => void) {
    this.#files = new TaskFiles(join(data, '.agents', 'tasks'))
    this.#lock = new FolderLock(join(data, 'files.lock'))
    this.#onFaultPoint = onFaultPoint
  }

  open(): void {
    this.#lock.open()
  }

  /** Nobody else, in no process, looks at or writes files meanwhile. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.hold(work)
  }

  sweep(): void {
    this.#files.sweep()
  }

  async close(): Promise<void> {
    await this.#lock.close()
  }

  /** Whether the file is what we left there. Needs no lock: at worst we look again with it. */
  inSync(db: DatabaseSync, ref: Ref): boolean {
    const name = nameOf(ref)
    return this.#files.read(name) === (rowOf(db, ref, name)?.content ?? null)
  }

  /** Looks at the file under the lock. Says what another program changed, if any did. */
  async look(db: DatabaseSync, ref: Ref, state: Conversation): Promise<ReturnType<typeof takeIn>> {
    const name = nameOf(ref)
    const row = rowOf(db, ref, name)
    const text = this.#files.read(name)
    this.#onFaultPoint('looked')
    const known = this.#found.get(name)
    if (known && known.text === text && row?.content === text) return undefined
    const cut = row?.settled === 0 && text !== row.content
    if (cut && row.content !== null && text === row.previous) {
      // A crash came between the commit and the new name: now it gets it.
      this.#files.rename(this.#files.prepare(name, row.content), name)
      await settle(db, name)
      this.#found.set(name, found(row.content, row))
      return undefined
    }
    this.#found.set(name, found(text, row))
    if (text === (row?.content ?? null)) return undefined
    // Whoever wrote while our own file had no name yet began with the one before it.
    const base = documentOf((cut ? row.previous : row?.content) ?? null)
    return takeIn(base, documentOf(text), state, v7)
  }

  /** Within the transaction: writes the new file aside, so that a full disk turns the callers down and nothing else. */
  prepare(db: DatabaseSync, ref: Ref, after: Conversation): void {
    const name = nameOf(ref)
    const row = rowOf(db, ref, name)
    const { text: standing = null, document = EMPTY, extras: all = {} } = this.#found.get(name) ?? {}
    const extras = extrasOf(after, all)
    const text = render(after, document.extra, extras)
    this.#discard(name)
    if (text === standing && row?.content === text) return
    if (standing === null && (row?.content ?? null) === null && after.tasks.size === 0) {
      // Nothing to write yet, but whoever comes second with this name must not get it.
      if (!row) putRow(db, ref, name, null, null, extras)
      return
    }
    this.#prepared.set(name, { aside: this.#files.prepare(name, text), text })
    this.#onFaultPoint('prepared')
    putRow(db, ref, name, text, standing, extras)
  }

  /** Whether a write of ours has not got into the file yet. */
  isCut(db: DatabaseSync, ref: Ref): boolean {
    const row = rowOf(db, ref, nameOf(ref))
    return row?.settled === 0 && this.#found.get(nameOf(ref))?.text !== row.content
  }

  /** Writes the list aside once more, with what another program has put into the file meanwhile and is not ours. */
  async refresh(db: DatabaseSync, ref: Ref, state: Conversation): Promise<void> {
    const name = nameOf(ref)
    const { text: standing = null, document = EMPTY, extras: all = {} } = this.#found.get(name) ?? {}
    const extras = extrasOf(state, all)
    const text = render(state, document.extra, extras)
    this.#discard(name)
    this.#prepared.set(name, { aside: this.#files.prepare(name, text), text })
    await begin(() => putRow(db, ref, name, text, standing, extras))
  }

  /**
   * After the commit: gives the file its name; or drops it, where the commit did not come about. Says whether another
   * program has written to the file meanwhile: then that comes first.
   */
  async publish(db: DatabaseSync, ref: Ref): Promise<boolean> {
    const name = nameOf(ref)
    const prepared = this.#prepared.get(name)
    if (!prepared) return false
    const row = rowOf(db, ref, name)
    if (row?.content !== prepared.text) {
      this.#discard(name)
      return false
    }
    if (this.#files.read(name) !== (this.#found.get(name)?.text ?? null)) return true
    this.#prepared.delete(name)
    this.#files.rename(prepared.aside, name)
    this.#onFaultPoint('renamed')
    await settle(db, name)
    this.#found.set(name, found(prepared.text, row))
    return false
  }

  #discard(name: string): void {
    const prepared = this.#prepared.get(name)
    if (prepared) this.#files.drop(prepared.aside)
    this.#prepared.delete(name)
  }
}

/** Whose own machine it is has the files at hand; other tenants, where there are any, have a folder each. */
function nameOf({ tenant, conversation }: Ref): string {
  const name = fileNameOf(conversation)
  return tenant === LOCAL_TENANT ? name : join(tenant, name)
}

const documentOf = (text: string | null): TaskDocument => (text === null ? EMPTY : parse(text))

function found(text: string | null, row: FileRow | undefined): Found {
  const document = documentOf(text)
  const kept = row ? (parseExactly(row.extras) as Record<string, Extra>) : {}
  return {
    text,
    document,
    extras: { ...kept, ...Object.fromEntries(document.tasks.map(({ id, extra }) => [id, extra])) },
  }
}

/** What other programs keep with tasks that there still are. */
function extrasOf(state: Conversation, all: Readonly<Record<string, Extra>>): Record<string, Extra> {
  const ids = listed(state).map(fileIdOf)
  return Object.fromEntries(
    ids.flatMap(id => {
      const extra = Object.hasOwn(all, id) ? all[id] : undefined
      return extra && Object.keys(extra).length > 0 ? [[id, extra]] : []
    }),
  )
}

function putRow(
  db: DatabaseSync,
  { tenant, conversation }: Ref,
  name: string,
  content: string | null,
  previous: string | null,
  extras: Readonly<Record<string, Extra>>,
): void {
  db.prepare(
    `INSERT INTO task_files (name, tenant, conversation, content, previous, settled, extras) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET content = excluded.content, previous = excluded.previous, settled = excluded.settled,
       extras = excluded.extras`,
  ).run(name.toLowerCase(), tenant, conversation, content, previous, content === null ? 1 : 0, JSON.stringify(extras))
}

/** The row of a file. Names are compared without case: on some file systems they are the same file. */
function rowOf(db: DatabaseSync, ref: Ref, name: string): FileRow | undefined {
  const row = rowNamed(db, name.toLowerCase())
  if (row && (row.tenant !== ref.tenant || row.conversation !== ref.conversation)) {
    throw new StoreError('id_taken', 'Another conversation has a task file of this name.')
  }
  return row
}

function rowNamed(db: DatabaseSync, name: string): FileRow | undefined {
  const sql = 'SELECT tenant, conversation, content, previous, settled, extras FROM task_files WHERE name = ?'
  try {
    return db.prepare(sql).get(name) as unknown as FileRow | undefined
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Notes that the file has its name. If that cannot be noted, or a power cut loses it, we only look more closely. */
async function settle(db: DatabaseSync, name: string): Promise<void> {
  const note = (): unknown =>
    db.prepare('UPDATE task_files SET previous = NULL, settled = 1 WHERE name = ?').run(name.toLowerCase())
  await begin(note).catch(() => {})
}
