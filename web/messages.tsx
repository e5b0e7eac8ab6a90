import { lazy, type ReactElement, Suspense, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { ConversationView, Reopening, TasksHandle } from 'runsheet/react'
import { bottomInset } from './bottom-inset.ts'
import { loadPart } from './load-part.ts'
import type { PageStrings } from './page-strings.ts'
import type { Route } from './route.ts'

/** Distance from the end that still counts as being there. */
const END_ZONE_PX = 40

const importThread = () => import('./thread.tsx')
const Thread = lazy(() => loadPart(importThread))

interface MessagesProps {
  /** The review whose end the panel tells, until it is closed. */
  readonly toldElsewhere: string | undefined
  /** May name a message to go to; else it is the newest. */
  readonly route: Route
  readonly view: ConversationView
  readonly plan: TasksHandle
  readonly strings: PageStrings
  /** Height in pixels of the panel that covers the end. */
  readonly covered: number
  /** The message being sent, before the log has it. */
  readonly outgoing: string | undefined
  readonly isStopping: boolean
  readonly onExample: (message: string) => void
  /** Tries again what a turn has left, or its message. */
  readonly onRetry: (turn: string) => void
  /** The model is the built-in one, which has a sandbox. */
  readonly isDemo: boolean
  /** The newest plan, if it can be opened again from its card. */
  readonly reopening: Reopening | undefined
}

/** The thread, scrolled to the newest; examples before there is one. */
export function Messages(props: MessagesProps): ReactElement {
  const { view, plan, strings, covered, outgoing, isStopping, isDemo, reopening, onExample, onRetry } = props
  const { messages, text, conversation, status } = view.state
  const { running_turn, seq } = conversation
  const scroller = useRef<HTMLDivElement>(null)
  const [showings, setShowings] = useState(0)
  const shown = useCallback(() => setShowings(count => count + 1), [])
  useStickToEnd(
    scroller,
    `${seq} ${text?.text.length ?? 0} ${covered} ${showings}`,
    outgoing,
    props.route.message === undefined,
  )
  // Not needed for the first sight of the page, but soon after it.
  useEffect(() => void importThread().catch(() => {}), [])
  const hasTurns = Object.keys(conversation.turns).length > 0
  const isEmpty = !hasTurns && outgoing === undefined
  return (
    <div
      className="app-scroll"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={strings.messages}
      style={bottomInset(covered)}
    >
      {isEmpty && status === 'connecting' && (
        <p className="app-quiet app-loading" role="status">
          {strings.loading}
        </p>
      )}
      {hasTurns && messages.length === 0 && outgoing === undefined && (
        <p className="app-quiet app-other-agent">
          {conversation.pending_reviews.length > 0
            ? strings.waitingForYou
            : plan.elapsedMs === undefined
              ? strings.otherAgentIdle
              : strings.otherAgent}
        </p>
      )}
      {isEmpty && (status === 'live' || status === 'waiting') ? (
        <Welcome strings={strings} isDemo={isDemo} onExample={onExample} />
      ) : (
        <div className="app-messages">
          {hasTurns && (
            <Suspense fallback={<p className="app-quiet app-loading">{strings.loading}</p>}>
              <Thread
                toldElsewhere={props.toldElsewhere}
                route={props.route}
                strings={strings}
                plan={plan}
                reopening={outgoing === undefined ? reopening : undefined}
                onRetry={outgoing === undefined && running_turn === null ? onRetry : undefined}
                onShown={shown}
              />
            </Suspense>
          )}
          {outgoing !== undefined && (
            <article className="app-message app-message-user app-message-outgoing" aria-label={strings.you}>
              <p className="app-plain" dir="auto">
                {outgoing}
              </p>
            </article>
          )}
          <p className="app-quiet app-working" role="status">
            {outgoing === undefined
              ? isStopping
                ? strings.stopping
                : progressText(view.state, strings)
              : strings.panels.sending}
          </p>
        </div>
      )}
    </div>
  )
}

type WelcomeProps = Pick<MessagesProps, 'strings' | 'isDemo' | 'onExample'>

/** What to try, before anything was asked. */
function Welcome({ strings, isDemo, onExample }: WelcomeProps): ReactElement {
  return (
    <section className="app-empty">
      <span className="app-logo app-logo-large" />
      <h2>{strings.emptyTitle}</h2>
      <p>{strings.emptyHint}</p>
      <ul>
        {[...(isDemo ? [strings.demoExample] : []), ...strings.examples].map(each => (
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

/** What the conversation is waiting for, if anything. */
function progressText({ conversation, text }: ConversationView['state'], strings: PageStrings): string {
  if (conversation.running_turn === null || text !== null) return ''
  return conversation.pending_reviews.length > 0 ? strings.waitingForYou : strings.working
}

/** Keeps a scroller at its end, unless the person has scrolled up; sending a message returns it there. */
function useStickToEnd(
  scroller: { readonly current: HTMLDivElement | null },
  /** Differs whenever the content does. */
  change: string,
  outgoing: string | undefined,
  beginsAtEnd: boolean,
): void {
  const isAtEnd = useRef(beginsAtEnd)
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const onScroll = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < END_ZONE_PX
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [scroller])
  useLayoutEffect(() => {
    const element = scroller.current
    if (outgoing !== undefined) isAtEnd.current = true
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [scroller, change, outgoing])
}
