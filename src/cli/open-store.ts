import { join } from 'node:path'
import { redactor } from '../domain/redact.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import { openMemoryStore } from '../store/memory.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import { CliError } from './cli-error.ts'

export interface StoreOptions {
  readonly store: string
  readonly data: string
}

const LABELS: Readonly<Record<string, string>> = { sqlite: 'SQLite', file: 'JSON files', memory: 'memory' }

/** Whether many nodes may use the store at once, each on a machine of its own. */
export const isForManyNodes = (store: string): boolean => /^postgres(ql)?:\/\/./.test(store)

/** Throws if `--store` is malformed. The value is not repeated: it may contain a password. */
export function checkStore(store: string): void {
  if (Object.hasOwn(LABELS, store) || (isForManyNodes(store) && URL.canParse(store))) return
  throw new CliError(
    '--store must be sqlite, file, memory or postgres://… (percent-encode special characters in the password).',
  )
}

/** Opens the store that `--store` names. The less common stores are loaded on demand. */
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

/** Opens a store to write to. One that is read-only is refused now: a process that cannot write serves nobody. */
export async function openWritableStore(options: StoreOptions): Promise<Store> {
  const store = await openStore(options)
  try {
    await store.probe({ room: false })
  } catch (error) {
    // What else fails may pass: it is reported, and shows in `/readyz`.
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

/** Why a store cannot be opened, without the password of its URL. */
export function cannotOpen(store: string, error: unknown): CliError {
  const { line } = redactor({ known: secretsInUrl(store).known })
  const detail = error instanceof StoreError && error.detail !== undefined ? ` (${error.detail})` : ''
  return new CliError(`cannot open ${storeLabel(store)}: ${line((error as Error).message + detail)}`)
}

/** The store's name for messages, without the password of its URL. */
export function storeLabel(store: string): string {
  const label = LABELS[store]
  if (label) return label
  const { host, pathname } = new URL(store)
  return `PostgreSQL at ${host}${pathname}`
}
