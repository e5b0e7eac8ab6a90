import { type ComponentType, lazy, type LazyExoticComponent } from 'react'

const RETRY_MS = 2_000

/** A component that is not part of the first load. Where the connection fails, it is asked for again until it arrives. */
export function lazyPart<P>(load: () => Promise<{ readonly default: ComponentType<P> }>): {
  readonly Part: LazyExoticComponent<ComponentType<P>>
  readonly preload: () => void
} {
  const loaded = (): Promise<{ readonly default: ComponentType<P> }> =>
    load().catch(async () => {
      await new Promise(resolve => setTimeout(resolve, RETRY_MS))
      return loaded()
    })
  return { Part: lazy(loaded), preload: () => void load().catch(() => {}) }
}
