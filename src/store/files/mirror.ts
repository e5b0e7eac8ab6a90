import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { v7 } from 'uuid'
import { listed, type Conversation } from '../../core/model/conversation.ts'
import { StoreError } from '../store-error.ts'
import { Lru } from '../lru.ts'
import { toStoreError } from '../sqlite/to-store-error.ts'
import { unflushed, whenFree } from '../sqlite/open.ts'
import type { SqliteFaultPoint } from '../sqlite/store.ts'
import { LOCAL_TENANT, type Ref } from '../store.ts'
import {
  EMPTY,
  fileEdits,
  fileIdOf,
  fileNameOf,
  parse,
  parseExactly,
  render,
  type Extra,
  type TaskDocument,
} from './document.ts'
import { TaskFiles } from './files.ts'
import { FolderLock } from './lock.ts'

export type FileFaultPoint = SqliteFaultPoint | 'looked' | 'prepared' | 'renamed'

/** A type, not an interface, so that a database row can be cast to it. */
type FileRow = {
  readonly tenant: string
  readonly conversation: string
  readonly content: string | null
  readonly previous: string | null
  readonly settled: number
  readonly extras: string
}

interface Found {
  readonly text: string | null
  readonly document: TaskDocument
  readonly extras: Readonly<Record<string, Extra>>
}

/** Compares the task files with the content that the database recorded for them. */
export class Mirror {
  readonly #files: TaskFiles
  readonly #lock: FolderLock
  readonly #onFaultPoint: (point: FileFaultPoint) => void
  readonly #found = new Lru<Found>(1_000)
  readonly #leftAlone = new Set<string>()
  readonly #prepared = new Map<string, { readonly temporary: string; readonly text: string }>()

  constructor(data: string, onFaultPoint: (point: FileFaultPoint) => void) {
    this.#files = new TaskFiles(data)
    this.#lock = new FolderLock(join(data, 'files.lock'))
    this.#onFaultPoint = onFaultPoint
  }

  open(): void {
    this.#lock.open()
  }

  /** Runs `work` while no other Runsheet process reads or writes the files. */
  exclusively<T>(work: () => Promise<T>, since?: number): Promise<T> {
    return this.#lock.hold(async () => {
      this.#files.check()
      return work()
    }, since)
  }

  check(): void {
    this.#lock.check()
  }

  /** Call under the lock. */
  isUnused(db: DatabaseSync, ref: Ref): boolean {
    const name = nameOf(ref)
    return rowOf(db, ref, name) === undefined && this.#files.read(name) === null
  }

  /** Call under the lock. */
  probe(): void {
    this.#files.probe()
  }

  sweep(): void {
    this.#files.sweep()
  }

  async close(): Promise<void> {
    await this.#lock.close()
  }

  /** True if the file is as last written. Needs no lock: a mismatch is checked again under it. */
  inSync(db: DatabaseSync, ref: Ref): boolean {
    const name = nameOf(ref)
    return this.#files.read(name) === (rowOf(db, ref, name)?.content ?? null)
  }

  /** Reads the file under the lock. Returns another program's edits. */
  async look(db: DatabaseSync, ref: Ref, state: Conversation): Promise<ReturnType<typeof fileEdits>> {
    const name = nameOf(ref)
    const row = rowOf(db, ref, name)
    const text = this.#files.read(name)
    this.#onFaultPoint('looked')
    const known = this.#found.get(name)
    if (known && known.text === text && row?.content === text) return undefined
    const cut = row?.settled === 0 && text !== row.content
    if (cut && row.content !== null && text === row.previous) {
      // A crash came between commit and rename: rename now.
      this.#files.rename(this.#files.prepare(name, row.content), name)
      await settle(db, name)
      this.#found.set(name, found(row.content, row))
      return undefined
    }
    this.#found.set(name, found(text, row))
    if (text === (row?.content ?? null)) return undefined
    // An edit made before our rename is based on the previous file.
    const base = documentOf((cut ? row.previous : row?.content) ?? null)
    return fileEdits(base, documentOf(text), state, v7)
  }

  async leaveAlone<T>(ref: Ref, commit: () => Promise<T>): Promise<T> {
    const name = nameOf(ref)
    this.#leftAlone.add(name)
    try {
      return await commit()
    } finally {
      this.#leftAlone.delete(name)
    }
  }

  /** Writes the temporary file within the transaction, so that a full disk rejects the calls before they commit. */
  prepare(db: DatabaseSync, ref: Ref, after: Conversation): void {
    const name = nameOf(ref)
    if (this.#leftAlone.has(name)) return
    const row = rowOf(db, ref, name)
    const { text: standing = null, document = EMPTY, extras: all = {} } = this.#found.get(name) ?? {}
    const extras = extrasOf(after, all)
    const text = render(after, document.extra, extras)
    this.#discard(name)
    if (text === standing && row?.content === text) return
    if (standing === null && (row?.content ?? null) === null && after.tasks.size === 0) {
      // Nothing to write yet, but this reserves the name.
      if (!row) putRow(db, ref, name, null, null, extras)
      return
    }
    this.#prepared.set(name, { temporary: this.#files.prepare(name, text), text })
    this.#onFaultPoint('prepared')
    putRow(db, ref, name, text, standing, extras)
  }

  isUnpublished(db: DatabaseSync, ref: Ref): boolean {
    const row = rowOf(db, ref, nameOf(ref))
    return row?.settled === 0 && this.#found.get(nameOf(ref))?.text !== row.content
  }

  /** Prepares the list again, including fields that another program has just added. */
  async refresh(db: DatabaseSync, ref: Ref, state: Conversation): Promise<void> {
    const name = nameOf(ref)
    const { text: standing = null, document = EMPTY, extras: all = {} } = this.#found.get(name) ?? {}
    const extras = extrasOf(state, all)
    const text = render(state, document.extra, extras)
    this.#discard(name)
    this.#prepared.set(name, { temporary: this.#files.prepare(name, text), text })
    await whenFree(() => unflushed(db, () => putRow(db, ref, name, text, standing, extras)))
  }

  /**
   * Run after the commit: renames the temporary file, or drops it if the commit failed. Returns whether another program
   * has written the file meanwhile: import its edits first.
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
    this.#files.rename(prepared.temporary, name)
    this.#onFaultPoint('renamed')
    await settle(db, name)
    this.#found.set(name, found(prepared.text, row))
    return false
  }

  #discard(name: string): void {
    const prepared = this.#prepared.get(name)
    if (prepared) this.#files.drop(prepared.temporary)
    this.#prepared.delete(name)
  }
}

export const filePathOf = (ref: Ref): string => `.agents/tasks/${nameOf(ref).replaceAll('\\', '/')}`

/** The local tenant's files are in the folder itself; other tenants have a folder each. */
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

/** Fields of other programs, for the tasks that are still listed. */
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

/** Names are case-insensitive, as on some file systems. */
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
    return db.prepare(sql).get(name) as FileRow | undefined
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Records the rename. If that fails, the next read recovers. */
async function settle(db: DatabaseSync, name: string): Promise<void> {
  const note = (): unknown =>
    unflushed(db, () =>
      db.prepare('UPDATE task_files SET previous = NULL, settled = 1 WHERE name = ?').run(name.toLowerCase()),
    )
  await whenFree(note).catch(() => {})
}
