import { RotateCcw } from 'lucide-react'
import { Fragment, lazy, memo, type ReactElement, Suspense, useEffect, useLayoutEffect, useRef } from 'react'
import { type Client, type Message, openTasks } from '../src/client/index.ts'
import type { ConversationView } from '../src/react/index.ts'
import { Call } from './call.tsx'
import { CopyButton } from './copy.tsx'
import { roomFor } from './room.ts'
import type { AppWords } from './words.ts'

const Markdown = lazy(() => import('./markdown.tsx'))

interface MessagesProps {
  readonly client: Client
  readonly view: ConversationView
  readonly words: AppWords
  /** So many pixels at the end are covered by a panel. */
  readonly covered: number
  /** What was sent and is not in the log yet. */
  readonly outgoing: string | undefined
  readonly isStopping: boolean
  readonly onTry: (message: string) => void
  /** Asks the same again, for a turn that came to nothing. */
  readonly onRetry: (turn: string, message: string) => void
}

/** What was said, the newest in sight; and before anything was, what to try. */
export function Messages({
  client,
  view,
  words,
  covered,
  outgoing,
  isStopping,
  onTry,
  onRetry,
}: MessagesProps): ReactElement {
  const { messages, text, conversation, status } = view.state
  const { running_turn, latest_turn } = conversation
  const scroller = useRef<HTMLDivElement>(null)
  const hasTurns = Object.keys(conversation.turns).length > 0
  useStickToEnd(scroller, `${messages.length} ${text?.text.length ?? 0} ${covered} ${running_turn}`, outgoing)
  const said = messages.filter(
    message => message.synthetic !== true && (message.text !== '' || message.tool_calls?.length),
  )
  const isEmpty = said.length === 0 && text === null && outgoing === undefined
  return (
    <div
      className="app-scroll"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={words.messages}
      style={roomFor(covered)}
    >
      {isEmpty && status === 'connecting' && (
        <p className="app-quiet app-loading" role="status">
          {words.loading}
        </p>
      )}
      {isEmpty && hasTurns && <p className="app-quiet app-elsewhere">{words.elsewhere}</p>}
      {isEmpty && !hasTurns && (status === 'live' || status === 'waiting') ? (
        <section className="app-empty">
          <h2>{words.emptyTitle}</h2>
          <p>{words.emptyHint}</p>
          <ul>
            {words.tries.map(each => (
              <li key={each}>
                <button type="button" className="rs-button" onClick={() => onTry(each)}>
                  {each}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ) : (
        <div className="app-messages">
          {said.map((message, place) => (
            <Fragment key={message.message_id}>
              <Said
                message={message}
                words={words}
                client={client}
                session={conversation.session_id}
                // Where something was said after it, it has been answered, whether or not this window heard it.
                isRunning={message.turn_id === running_turn && place === said.length - 1 && text === null}
              />
              {message.turn_id !== said[place + 1]?.turn_id && (
                <Ending
                  view={view}
                  turn={message.turn_id}
                  words={words}
                  {...(message.turn_id === latest_turn && outgoing === undefined ? { onRetry } : {})}
                />
              )}
            </Fragment>
          ))}
          {text !== null && (
            <article className="app-message app-message-assistant" aria-label={words.assistant}>
              <Suspense fallback={<p className="app-plain">{text.text}</p>}>
                <Markdown text={text.text} isGrowing />
              </Suspense>
            </article>
          )}
          {outgoing !== undefined && (
            <article className="app-message app-message-user app-message-outgoing" aria-label={words.you}>
              <p className="app-plain">{outgoing}</p>
            </article>
          )}
          <p className="app-quiet app-working" role="status">
            {outgoing === undefined ? (isStopping ? words.stopping : working(view.state, words)) : words.panels.sending}
          </p>
        </div>
      )}
    </div>
  )
}

interface SaidProps {
  readonly message: Message
  readonly words: AppWords
  readonly client: Client
  readonly session: string
  readonly isRunning: boolean
}

const Said = memo(function Said({ message, words, client, session, isRunning }: SaidProps): ReactElement {
  const calls = message.tool_calls ?? []
  return (
    <article
      className={`app-message app-message-${message.role}${message.text === '' ? ' app-message-calls' : ''}`}
      aria-label={message.role === 'user' ? words.you : words.assistant}
    >
      {message.text !== '' &&
        (message.role === 'user' ? (
          <p className="app-plain">{message.text}</p>
        ) : (
          <Suspense fallback={<p className="app-plain">{message.text}</p>}>
            <Markdown text={message.text} />
          </Suspense>
        ))}
      {calls.map(call => (
        <Call
          key={call.tool_call_id}
          call={call}
          client={client}
          session={session}
          isRunning={isRunning}
          words={words}
        />
      ))}
      {message.role === 'assistant' && message.text !== '' && calls.length === 0 && (
        <CopyButton text={message.text} words={words} />
      )}
    </article>
  )
})

interface EndingProps {
  readonly view: ConversationView
  readonly turn: string | null
  readonly words: AppWords
  readonly onRetry?: (turn: string, message: string) => void
}

/**
 * How a turn ended that was not done; the latest one can be asked for again. Where it is only not finished, Continue
 * beside the plan goes on with what is open, and there is nothing to repeat.
 */
function Ending({ view, turn, words, onRetry }: EndingProps): ReactElement | null {
  const { conversation, messages } = view.state
  const status = turn === null ? undefined : conversation.turns[turn]?.status
  if (turn === null || (status !== 'failed' && status !== 'stopped' && status !== 'incomplete')) return null
  const asked = messages.find(message => message.turn_id === turn && message.role === 'user')
  const canContinue = status === 'incomplete' && openTasks(conversation, turn).length > 0
  return (
    <p className="app-ending" role="note">
      <span className={`app-chip app-chip-${status}`}>{words.ended[status]}</span>
      {onRetry && asked && !canContinue && conversation.running_turn === null && (
        <button type="button" className="rs-button" onClick={() => onRetry(turn, asked.text)}>
          <RotateCcw size={14} aria-hidden="true" /> {words.retry}
        </button>
      )}
    </p>
  )
}

/** What is waited for, if anything is. */
function working({ conversation, text }: ConversationView['state'], words: AppWords): string {
  if (conversation.running_turn === null || text !== null) return ''
  return conversation.pending_reviews.length > 0 ? words.waitingForYou : words.thinking
}

/** Stays at the end while it is there; whoever has scrolled up reads on undisturbed, until they say something. */
function useStickToEnd(
  scroller: { readonly current: HTMLDivElement | null },
  change: string,
  outgoing: string | undefined,
): void {
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40
    }
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [scroller])
  useLayoutEffect(() => {
    const element = scroller.current
    if (outgoing !== undefined) isAtEnd.current = true
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [scroller, change, outgoing])
}
