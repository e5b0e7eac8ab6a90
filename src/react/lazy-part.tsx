import { type ComponentType, createElement, lazy, type ReactElement, useState } from 'react'
import { useStrings } from './strings.ts'

/** A component that is not part of the first load. */
interface LazyPart<P> {
  readonly Part: ComponentType<P>
  readonly preload: () => void
}

/** Where it fails to load, it says so: browsers remember that a module failed, until the page is loaded again. */
export function lazyPart<P extends object>(load: () => Promise<{ readonly default: ComponentType<P> }>): LazyPart<P> {
  let known: ComponentType<P> | undefined
  const loaded = async (): Promise<{ readonly default: ComponentType<P> }> => {
    const part = await load().catch(() => ({ default: NotLoaded }))
    known = part.default
    return part
  }
  const Lazy: ComponentType<P> = lazy(loaded)
  return {
    // What is there already shows at once, not after a moment without it.
    Part: props => createElement(useState(() => ({ of: known ?? Lazy }))[0].of, props),
    preload: () => void loaded(),
  }
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
