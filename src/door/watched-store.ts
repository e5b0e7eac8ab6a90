import type { Store } from '../store/store.ts'
import type { StorageHealth } from './storage-health.ts'

/** The store, with the outcome of every call of every method told to `health`. */
export const watchedStore = (store: Store, health: StorageHealth): Store => watched(store, health)

function watched<T extends object>(target: T, health: StorageHealth): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name)
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
