import { lazy, type ReactElement, Suspense, useEffect, useRef } from 'react'
import { bottomInset } from './bottom-inset.ts'
import { loadPart } from './load-part.ts'
import type { PageStrings } from './page-strings.ts'
import type { ThreadProps } from './thread.tsx'
import { isList, type ShownPolicy } from './toolset-policies.ts'

const importThread = () => import('./thread.tsx')
const Thread = lazy(() => loadPart(importThread))

interface MessagesProps extends Omit<ThreadProps, 'scroller'> {
  readonly onExample: (message: string) => void
  /** The model is the built-in one, and has a sandbox. */
  readonly hasSandbox: boolean
  /** Of the next message; undefined until that is known. */
  readonly policy: ShownPolicy | undefined
}

/** The thread; examples before there is one. */
export function Messages({ onExample, hasSandbox, policy, ...thread }: MessagesProps): ReactElement {
  const { view, strings, covered, outgoing } = thread
  const { conversation, status } = view.state
  const scroller = useRef<HTMLDivElement>(null)
  // Not needed for the first sight of the page, but soon after it.
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
        <Welcome strings={strings} hasSandbox={hasSandbox} policy={policy} onExample={onExample} />
      ) : (
        status === 'connecting' && loading
      )}
    </div>
  )
}

interface WelcomeProps {
  readonly strings: PageStrings
  readonly hasSandbox: boolean
  readonly policy: ShownPolicy | undefined
  readonly onExample: (message: string) => void
}

/** What to try, before anything was asked. */
function Welcome({ strings, hasSandbox, policy, onExample }: WelcomeProps): ReactElement {
  const areItems = policy !== undefined && isList(policy)
  const [title, hint] = strings.empty[!policy || policy.review ? 'reviewed' : areItems ? 'list' : 'unreviewed']
  return (
    <section className="app-empty">
      <span className="app-logo app-logo-large" />
      {/* It promises nothing before it is known. */}
      <h2 aria-busy={!policy}>{title}</h2>
      <p aria-busy={!policy}>{hint}</p>
      <ul>
        {[...strings.examples, ...(hasSandbox && !areItems ? [strings.demoExample] : [])].map(each => (
          <li key={each}>
            <button type="button" className="rs-button" onClick={() => onExample(each)}>
              {each}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
