import { Button } from 'runsheet/react'
import { lazy, type ReactElement, Suspense, useEffect, useRef } from 'react'
import { bottomInset } from '../chat/layout.ts'
import { loadPart } from '../load-part.ts'
import type { ThreadProps } from './thread.tsx'
import { isList, type ShownPolicy } from '../chat/models.ts'
import { usePageStrings } from '../texts/strings.ts'

const importThread = () => import('./thread.tsx')
const Thread = lazy(() => loadPart(importThread))

interface MessagesProps extends Omit<ThreadProps, 'scroller'> {
  readonly onExample: (message: string) => void
  readonly hasSandbox: boolean
  /** Policy of the next message; undefined until loaded. */
  readonly policy: ShownPolicy | undefined
}

export function Messages({ onExample, hasSandbox, policy, ...thread }: MessagesProps): ReactElement {
  const strings = usePageStrings()
  const { view, covered, outgoing } = thread
  const { conversation, status } = view.state
  const scroller = useRef<HTMLDivElement>(null)
  // Preload: needed soon after the first render.
  useEffect(() => void importThread().catch(() => {}), [])
  const isEmpty = Object.keys(conversation.turns).length === 0 && outgoing === undefined
  const loading = (
    <p className="app-quiet app-loading" role="status">
      {strings.loading}
    </p>
  )
  return (
    <div
      className="app-scroll"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={strings.messages}
      style={bottomInset(covered)}
    >
      {!isEmpty ? (
        <Suspense fallback={loading}>
          <Thread {...thread} scroller={scroller} />
        </Suspense>
      ) : status === 'live' || status === 'waiting' ? (
        <Welcome hasSandbox={hasSandbox} policy={policy} onExample={onExample} />
      ) : (
        status === 'connecting' && loading
      )}
    </div>
  )
}

interface WelcomeProps {
  readonly hasSandbox: boolean
  readonly policy: ShownPolicy | undefined
  readonly onExample: (message: string) => void
}

function Welcome({ hasSandbox, policy, onExample }: WelcomeProps): ReactElement {
  const strings = usePageStrings()
  const areItems = policy !== undefined && isList(policy)
  const [title, hint] = strings.empty[!policy || policy.review ? 'reviewed' : areItems ? 'list' : 'unreviewed']
  return (
    <section className="app-empty">
      <span className="app-logo app-logo-large" />
      {/* Shows no promise before the policy is known. */}
      <h2 aria-busy={!policy}>{title}</h2>
      <p aria-busy={!policy}>{hint}</p>
      <ul>
        {[...strings.examples, ...(hasSandbox && !areItems ? [strings.demoExample] : [])].map(each => (
          <li key={each}>
            <Button onClick={() => onExample(each)}>{each}</Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
