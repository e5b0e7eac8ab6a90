import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { redactor } from '../domain/redact.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import { type Door, openDoor, type Ref } from '../door/door.ts'
import { openMemoryStore } from '../store/memory.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import { StoreError } from '../store/store-error.ts'
import { LOCAL_TENANT, type Store } from '../store/store.ts'
import { CliError } from './cli-error.ts'
import { existingFolder } from './data-folder.ts'
import type { Environment } from './environment.ts'
import type { PlanSource, StatusPlace } from './status-source.ts'

export interface StoreOptions {
  readonly store: string
  readonly data: string
}

const LABELS: Readonly<Record<string, string>> = { sqlite: 'SQLite', file: 'JSON files', memory: 'memory' }

/** True if several machines may share the store. */
export const isForManyNodes = (store: string): boolean => /^postgres(ql)?:\/\/./.test(store)

/** Throws if `--store` is malformed. The message omits the value, which may contain a password. */
export function checkStore(store: string): void {
  if (Object.hasOwn(LABELS, store) || (isForManyNodes(store) && URL.canParse(store))) return
  throw new CliError(
    '--store must be sqlite, file, memory or postgres://… (percent-encode special characters in the password).',
  )
}

/** Less common stores are imported on demand. */
export async function openStore({ store, data }: StoreOptions): Promise<Store> {
  try {
    switch (store) {
      case 'sqlite':
        return await openSqliteStore({ path: join(data, 'runsheet.db') })
      case 'file':
        return await (await import('../store/json/store.ts')).openFileStore({ data })
      case 'memory':
        return openMemoryStore()
      default:
        return await (await import('../store/postgres/store.ts')).openPostgresStore({ url: store })
    }
  } catch (error) {
    throw cannotOpen(store, error)
  }
}

/** Fails on a read-only store: a process that cannot write is of no use. */
export async function openWritableStore(options: StoreOptions): Promise<Store> {
  const store = await openStore(options)
  try {
    await store.probe({ room: false })
  } catch (error) {
    // Other failures may be transient: they are reported and show in `/readyz`.
    if (error instanceof StoreError && error.code === 'readonly') {
      await store.close()
      throw cannotOpen(options.store, error)
    }
  }
  return store
}

/** Equal for stores that hold the same plans: JSON files and SQLite share the folder's database. */
export const storeLocation = (store: string): string =>
  store === 'sqlite' || store === 'file' ? 'folder' : storeLabel(store)

/** Omits the password of the store's URL. */
export function cannotOpen(store: string, error: unknown): CliError {
  const { line } = redactor({ known: secretsInUrl(store).known })
  const detail = error instanceof StoreError && error.detail !== undefined ? ` (${error.detail})` : ''
  return new CliError(`cannot open ${storeLabel(store)}: ${line((error as Error).message + detail)}`)
}

/** Omits the password of the store's URL. */
export function storeLabel(store: string): string {
  const label = LABELS[store]
  if (label) return label
  const { host, pathname } = new URL(store)
  return `PostgreSQL at ${host}${pathname}`
}

export type ReadOptions = StoreOptions & { readonly environment: Environment }

const PAGE_SIZE = 200

export async function readStore(options: ReadOptions, work: (door: Door) => Promise<void>): Promise<void> {
  checkStore(options.store)
  existingFolder(options)
  const door = openDoor({ store: await openStore(options), readOnly: true })
  try {
    await work(door)
  } finally {
    await door.close()
  }
}

/** Newest first. */
export async function* allConversations({ conversations }: Door): AsyncGenerator<Ref> {
  let cursor: string | undefined
  do {
    const { items, next_cursor } = await conversations.list(LOCAL_TENANT, { limit: PAGE_SIZE, cursor }, 'all')
    for (const { session_id } of items) yield { tenant: LOCAL_TENANT, conversation: session_id }
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined)
}

export async function knownConversation({ conversations }: Door, conversation: string): Promise<Ref> {
  const ref = { tenant: LOCAL_TENANT, conversation }
  if (await conversations.summary(ref)) return ref
  throw new CliError(`there is no conversation ${conversation}.`)
}

/** Opens the store read-only and creates nothing; undefined if there is none. */
export async function openedForStatus({ store, data }: StatusPlace): Promise<Door | undefined> {
  if (store === 'memory') return undefined
  if (store === 'sqlite' || store === 'file') {
    // Task files only mirror the log.
    const path = join(data, 'runsheet.db')
    return existsSync(path) ? openDoor({ store: await openSqliteStore({ path }), readOnly: true }) : undefined
  }
  const { openPostgresStore } = await import('../store/postgres/store.ts')
  try {
    return openDoor({ store: await openPostgresStore({ url: store, creates: false }), readOnly: true })
  } catch (error) {
    // A database without our tables.
    if (error instanceof StoreError && error.code === 'readonly') return undefined
    throw error
  }
}

export const plansOf = (door: Door): PlanSource => ({
  now: () => door.now(),
  read: ref => door.read(ref),
  conversations: async limit => (await door.conversations.list(LOCAL_TENANT, { limit }, 'all')).items,
  waiting: async limit => (await door.reviews.waiting(LOCAL_TENANT, undefined, { limit })).items,
  close: () => door.close(),
})
