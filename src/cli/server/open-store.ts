import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { redactor } from '../../core/text/redact.ts'
import { secretsInUrl } from '../../core/text/secrets.ts'
import { type Door, openDoor, type Ref } from '../../engine/door/door.ts'
import { SCHEMA } from '../../store/postgres/schema.ts'
import { StoreError } from '../../store/store-error.ts'
import { LOCAL_TENANT, type Store } from '../../store/store.ts'
import { CliError } from '../cli-error.ts'
import { existingFolder } from './data-folder.ts'
import type { Environment } from '../environment.ts'
import type { PlanSource, StatusPlace } from '../status-source.ts'

export interface StoreOptions {
  readonly store: string
  readonly data: string
}

/** A kind of store. Another one is another row here, an entry in the library, and its folder. */
interface StoreKind {
  /** What `--store` names: a word, or URLs of a scheme. */
  readonly pattern: RegExp
  readonly label: (store: string) => string
  /** Where the plans are: in the data folder, in this process, or where several machines may share them. */
  readonly place: 'folder' | 'process' | 'shared'
  readonly open: (options: StoreOptions) => Promise<Store>
  /** Creates nothing; undefined if there is none. */
  readonly openExisting: (options: StoreOptions) => Promise<Store | undefined>
  /** Why `backup` and `restore` refuse it. */
  readonly noBackup?: string
}

const openDatabase = async ({ data }: StoreOptions): Promise<Store> =>
  (await import('../../store/sqlite/store.ts')).openSqliteStore({ path: join(data, 'runsheet.db') })

/** Task files only mirror the log. */
const openExistingDatabase = async (options: StoreOptions): Promise<Store | undefined> =>
  existsSync(join(options.data, 'runsheet.db')) ? openDatabase(options) : undefined

const KINDS: readonly StoreKind[] = [
  {
    pattern: /^sqlite$/,
    label: () => 'SQLite',
    place: 'folder',
    open: openDatabase,
    openExisting: openExistingDatabase,
  },
  {
    pattern: /^file$/,
    label: () => 'JSON files',
    place: 'folder',
    open: async ({ data }) => (await import('../../store/files/store.ts')).openFileStore({ data }),
    openExisting: openExistingDatabase,
  },
  {
    pattern: /^memory$/,
    label: () => 'memory',
    place: 'process',
    open: async () => (await import('../../store/memory.ts')).openMemoryStore(),
    openExisting: async () => undefined,
    noBackup: 'the memory store keeps nothing that could be backed up or restored.',
  },
  {
    pattern: /^postgres(ql)?:\/\/./,
    label: store => {
      const { host, pathname } = new URL(store)
      return `PostgreSQL at ${host}${pathname}`
    },
    place: 'shared',
    open: async ({ store }) => (await import('../../store/postgres/store.ts')).openPostgresStore({ url: store }),
    openExisting: async ({ store }) => {
      const { openPostgresStore } = await import('../../store/postgres/store.ts')
      return openPostgresStore({ url: store, creates: false }).catch((error: unknown) => {
        // A database without our tables.
        if (error instanceof StoreError && error.code === 'readonly') return undefined
        throw error
      })
    },
    noBackup: `PostgreSQL has its own tools: pg_dump --schema ${SCHEMA}, and psql or pg_restore. For a file that every store can read, use the commands export --all and import.`,
  },
]

/** Throws if `--store` is malformed. The message omits the value, which may contain a password. */
export function checkStore(store: string): void {
  kindOf(store)
}

function kindOf(store: string): StoreKind {
  const kind = KINDS.find(({ pattern }) => pattern.test(store))
  if (kind && (kind.place !== 'shared' || URL.canParse(store))) return kind
  throw new CliError(
    '--store must be sqlite, file, memory or postgres://… (percent-encode special characters in the password).',
  )
}

/** True if several machines may share the store. */
export const isForManyNodes = (store: string): boolean => kindOf(store).place === 'shared'

export function checkBackedUp(store: string): void {
  const { noBackup } = kindOf(store)
  if (noBackup !== undefined) throw new CliError(noBackup)
}

export async function openStore(options: StoreOptions): Promise<Store> {
  try {
    return await kindOf(options.store).open(options)
  } catch (error) {
    throw cannotOpen(options.store, error)
  }
}

/** Opens what is there and creates nothing; undefined if there is none. Throws store errors. */
const openExistingStore = (options: StoreOptions): Promise<Store | undefined> =>
  kindOf(options.store).openExisting(options)

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
  kindOf(store).place === 'folder' ? 'folder' : storeLabel(store)

/** Omits the password of the store's URL. */
export function cannotOpen(store: string, error: unknown): CliError {
  const { line } = redactor({ known: secretsInUrl(store).known })
  const detail = error instanceof StoreError && error.detail !== undefined ? ` (${error.detail})` : ''
  return new CliError(`cannot open ${storeLabel(store)}: ${line((error as Error).message + detail)}`)
}

/** Omits the password of the store's URL. */
export const storeLabel = (store: string): string => kindOf(store).label(store)

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
export async function openedForStatus(place: StatusPlace): Promise<Door | undefined> {
  const store = await openExistingStore(place)
  return store && openDoor({ store, readOnly: true })
}

export const plansOf = (door: Door): PlanSource => ({
  now: () => door.now(),
  read: ref => door.read(ref),
  conversations: async limit => (await door.conversations.list(LOCAL_TENANT, { limit }, 'all')).items,
  waiting: async limit => (await door.reviews.waiting(LOCAL_TENANT, undefined, { limit })).items,
  close: () => door.close(),
})
