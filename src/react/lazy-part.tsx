import { type ComponentType, lazy, type LazyExoticComponent, type ReactElement } from 'react'
import { useStrings } from './strings.ts'

/** A component that is not part of the first load. */
interface LazyPart<P> {
  readonly Part: LazyExoticComponent<ComponentType<P>>
  readonly preload: () => void
}

/** Where it fails to load, it says so: browsers remember that a module failed, until the page is loaded again. */
export function lazyPart<P>(load: () => Promise<{ readonly default: ComponentType<P> }>): LazyPart<P> {
  const loaded = (): ReturnType<typeof load> => load().catch(() => ({ default: NotLoaded }))
  return { Part: lazy(loaded), preload: () => void loaded() }
}

function NotLoaded(): ReactElement {
  const strings = useStrings()
  return (
    <section className="rs-panel rs-outcome-panel" aria-label={strings.review}>
      <span role="alert">{strings.notLoaded}</span>
      <button type="button" className="rs-button" onClick={() => location.reload()}>
        {strings.reload}
      </button>
    </section>
  )
}
