import { type ComponentType, createElement, lazy, type ReactElement, useState } from 'react'
import { useStrings } from '../texts/strings.ts'

interface LazyPart<P> {
  readonly Part: ComponentType<P>
  readonly preload: () => void
}

/** Renders an error if loading fails: browsers cache a failed module until the page is reloaded. */
export function lazyPart<P extends object>(load: () => Promise<{ readonly default: ComponentType<P> }>): LazyPart<P> {
  let known: ComponentType<P> | undefined
  const loaded = async (): Promise<{ readonly default: ComponentType<P> }> => {
    const part = await load().catch(() => ({ default: NotLoaded }))
    known = part.default
    return part
  }
  const Lazy: ComponentType<P> = lazy(loaded)
  return {
    // Renders a loaded component at once: `lazy` would suspend for a moment.
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
