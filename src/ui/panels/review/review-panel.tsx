import { type ComponentType, lazy, type ReactElement, Suspense, useEffect, useState } from 'react'
import { Button } from '../parts/controls.tsx'
import type { ReviewPartProps } from './pending-review.tsx'
import type { Client } from '../../../client/client.ts'
import { type ConversationView, useRunsheet } from '../parts/provider.tsx'
import { type ReviewHandle, useReview } from './use-review.ts'
import { useStrings } from '../texts/strings.ts'

/** The props of `ReviewPanel`. */
export interface ReviewPanelProps {
  /** Required outside of a `RunsheetProvider`. */
  readonly client?: Client
  /** Required outside of a `RunsheetProvider`. */
  readonly view?: ConversationView
  /** The handle of `useReview`. Pass it if the page also uses it, or has its own comment field. */
  readonly handle?: ReviewHandle
  readonly className?: string
}

/** The pending review, or the outcome of the last one until it is dismissed. */
export function ReviewPanel(props: ReviewPanelProps): ReactElement | null {
  return props.handle ? <Panel {...props} handle={props.handle} /> : <OwnPanel {...props} />
}

function OwnPanel(props: ReviewPanelProps): ReactElement | null {
  return <Panel {...props} handle={useReview(useRunsheet(props))} />
}

function Panel(props: ReviewPanelProps & { readonly handle: ReviewHandle }): ReactElement | null {
  const { handle, className } = props
  const { client } = useRunsheet(props)
  // Preloaded, so that a review shows without delay.
  useEffect(() => void load(), [])
  if (!handle.review && !handle.outcome) return null
  return (
    <Suspense>
      <ReviewPart client={client} handle={handle} className={className} />
    </Suspense>
  )
}

let loaded: ComponentType<ReviewPartProps> | undefined

/** Loads the part that shows a review. Browsers cache a failed module until the page is reloaded. */
async function load(): Promise<{ readonly default: ComponentType<ReviewPartProps> }> {
  const part = await import('./pending-review.tsx').catch(() => ({ default: NotLoaded }))
  loaded = part.default
  return part
}

const LazyPart: ComponentType<ReviewPartProps> = lazy(load)

/** Renders a loaded part at once: `lazy` would suspend for a moment. */
function ReviewPart(props: ReviewPartProps): ReactElement {
  const [part] = useState(() => ({ Shown: loaded ?? LazyPart }))
  return <part.Shown {...props} />
}

function NotLoaded(): ReactElement {
  const strings = useStrings()
  return (
    <section className="rs-panel rs-outcome-panel" aria-label={strings.review}>
      <span role="alert">{strings.notLoaded}</span>
      <Button onClick={() => location.reload()}>{strings.reload}</Button>
    </section>
  )
}
