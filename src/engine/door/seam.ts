import { StoreError } from '../../store/store-error.ts'
import type { LiveText, Notices, Search, Store, Templates } from '../../store/store.ts'
import type { StorageHealth } from './storage-health.ts'

export type Seam = Store & typeof WITHOUT

/** Wraps a store: fills in each missing capability and reports the outcome of every call to `health`. */
export const seamOf = (store: Store, health: StorageHealth): Seam => watched(store, health, WITHOUT) as Seam

const refusing = (what: string) => async (): Promise<never> => {
  throw new StoreError('unsupported', `This store has no ${what}. SQLite, JSON files and PostgreSQL have.`)
}
const noSearch = refusing('search')
const noNotices = refusing('notices')

/** The answers of a missing capability: reads return nothing, writes are refused. */
const WITHOUT: {
  readonly search: Search
  readonly templates: Templates
  readonly live: LiveText
  readonly notices: Notices
} = {
  search: { conversations: noSearch, tasks: noSearch, all: noSearch },
  templates: {
    get: async () => undefined,
    list: async () => [],
    put: refusing('templates'),
    rename: async () => 'unknown',
    delete: async () => false,
  },
  // Readers of a running step get its text once it is in the log.
  live: { write: async () => {}, read: async () => undefined, clear: async () => {} },
  notices: { want: noNotices, take: noNotices, settle: noNotices, waiting: async () => ({ count: 0 }) },
}

function watched<T extends object>(target: T, health: StorageHealth, without: object = {}): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name) ?? Reflect.get(without, name)
      if (typeof value === 'function') return (...args: unknown[]) => watchCall(() => value.apply(target, args), health)
      return typeof value === 'object' && value !== null ? watched(value, health) : value
    },
  })
}

function watchCall(call: () => unknown, health: StorageHealth): unknown {
  try {
    const result = call()
    if (result instanceof Promise) return watchPromise(result, health)
    return isIterable(result) ? watchEach(result, health) : result
  } catch (error) {
    health.failed(error)
    throw error
  }
}

async function watchPromise<T>(promise: Promise<T>, health: StorageHealth): Promise<T> {
  try {
    const value = await promise
    health.worked()
    return value
  } catch (error) {
    health.failed(error)
    throw error
  }
}

async function* watchEach(items: AsyncIterable<unknown>, health: StorageHealth): AsyncGenerator<unknown, void> {
  try {
    yield* items
  } catch (error) {
    health.failed(error)
    throw error
  }
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value
