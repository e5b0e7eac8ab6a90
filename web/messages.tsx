import { RotateCcw } from 'lucide-react'
import { Fragment, lazy, memo, type ReactElement, Suspense, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { type Client, listed, type Message, openTasks, type Resolution } from 'runsheet/client'
import type { ConversationView } from 'runsheet/react'
import { bottomInset } from './bottom-inset.ts'
import { CopyButton } from './copy-button.tsx'
import type { PageStrings } from './page-strings.ts'
import { ToolCall } from './tool-call.tsx'

/** Distance from the end that still counts as being there. */
const END_ZONE_PX = 40

const Markdown = lazy(() => import('./markdown.tsx'))

interface MessagesProps {
  readonly client: Client
  readonly view: ConversationView
  readonly strings: PageStrings
  /** Height in pixels of the panel that covers the end. */
  readonly covered: number
  /** The message being sent, before the log has it. */
  readonly outgoing: string | undefined
  readonly isStopping: boolean
  readonly onExample: (message: string) => void
  /** Tries again what a turn has left, or its message. */
  readonly onRetry: (turn: string, message: string) => void
  /** The model is the built-in one, which has a sandbox. */
  readonly isDemo: boolean
}

/** The messages, scrolled to the newest; examples before there are any. */
export function Messages({
  client,
  view,
  strings,
  covered,
  outgoing,
  isStopping,
  isDemo,
  onExample,
  onRetry,
}: MessagesProps): ReactElement {
  const { messages, text, conversation, status } = view.state
  const { running_turn, latest_turn } = conversation
  const resolved = useResolvedCalls(view.state)
  const scroller = useRef<HTMLDivElement>(null)
  const hasTurns = Object.keys(conversation.turns).length > 0
  useStickToEnd(scroller, `${messages.length} ${text?.text.length ?? 0} ${covered} ${running_turn}`, outgoing)
  const shown = messages.filter(
    message => message.synthetic !== true && (message.text !== '' || message.tool_calls?.length),
  )
  const isEmpty = shown.length === 0 && text === null && outgoing === undefined
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
      {isEmpty && hasTurns && <p className="app-quiet app-other-agent">{strings.otherAgent}</p>}
      {isEmpty && !hasTurns && (status === 'live' || status === 'waiting') ? (
        <section className="app-empty">
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
      ) : (
        <div className="app-messages">
          {shown.map((message, index) => (
            <Fragment key={message.message_id}>
              <MessageView
                message={message}
                strings={strings}
                client={client}
                session={conversation.session_id}
                resolved={resolved}
                // A later message means that its calls have been answered.
                isRunning={message.turn_id === running_turn && index === shown.length - 1 && text === null}
              />
              {message.turn_id !== shown[index + 1]?.turn_id && (
                <TurnEnding
                  view={view}
                  turn={message.turn_id}
                  strings={strings}
                  {...(message.turn_id === latest_turn && outgoing === undefined ? { onRetry } : {})}
                />
              )}
            </Fragment>
          ))}
          {text !== null && (
            <article className="app-message app-message-assistant" aria-label={strings.assistant}>
              <Suspense fallback={<p className="app-plain">{text.text}</p>}>
                <Markdown text={text.text} isStreaming />
              </Suspense>
            </article>
          )}
          {outgoing !== undefined && (
            <article className="app-message app-message-user app-message-outgoing" aria-label={strings.you}>
              <p className="app-plain">{outgoing}</p>
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

interface MessageViewProps {
  readonly message: Message
  readonly strings: PageStrings
  readonly client: Client
  readonly session: string
  readonly resolved: ResolvedCalls
  readonly isRunning: boolean
}

const MessageView = memo(function MessageView({
  message,
  strings,
  client,
  session,
  resolved,
  isRunning,
}: MessageViewProps): ReactElement {
  const calls = message.tool_calls ?? []
  return (
    <article
      className={`app-message app-message-${message.role}${message.text === '' ? ' app-message-calls' : ''}`}
      aria-label={message.role === 'user' ? strings.you : strings.assistant}
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
        <ToolCall
          key={call.tool_call_id}
          call={call}
          resolution={resolved.get(callKey(message.turn_id, call.tool_call_id))}
          client={client}
          session={session}
          isRunning={isRunning}
          strings={strings}
        />
      ))}
      {message.role === 'assistant' && message.text !== '' && calls.length === 0 && (
        <CopyButton text={message.text} strings={strings} />
      )}
    </article>
  )
})

/** How the reviews of tool calls ended, by turn and call. */
type ResolvedCalls = ReadonlyMap<string, Resolution>

const callKey = (turn: string | null, call: string): string => `${turn} ${call}`

function useResolvedCalls({ conversation: { reviews }, resolutions }: ConversationView['state']): ResolvedCalls {
  return useMemo(() => {
    const entries = Object.values(reviews).flatMap(({ review_id, conversation_turn_id, tool_call_id }) => {
      const resolution = resolutions[review_id]
      return resolution ? [[callKey(conversation_turn_id, tool_call_id), resolution] as const] : []
    })
    return new Map(entries)
  }, [reviews, resolutions])
}

interface TurnEndingProps {
  readonly view: ConversationView
  readonly turn: string | null
  readonly strings: PageStrings
  readonly onRetry?: (turn: string, message: string) => void
}

/**
 * How a turn ended that is not done; the latest one can be retried. One with open tasks cannot: Continue in the plan
 * picks those up.
 */
function TurnEnding({ view, turn, strings, onRetry }: TurnEndingProps): ReactElement | null {
  const { conversation, messages } = view.state
  const status = turn === null ? undefined : conversation.turns[turn]?.status
  if (turn === null || (status !== 'failed' && status !== 'stopped' && status !== 'incomplete')) return null
  const asked = messages.find(message => message.turn_id === turn && message.role === 'user')
  const isOpen = openTasks(conversation, turn).length > 0
  const isBlocked = listed(conversation, turn).some(task => task.status === 'blocked')
  const canContinue = status === 'incomplete' && isOpen
  return (
    <p className="app-ending" role="note">
      <span className={`app-chip app-chip-${status}`}>{strings.turnStatus[status]}</span>
      {onRetry && asked && !canContinue && conversation.running_turn === null && (
        <button type="button" className="rs-button" onClick={() => onRetry(turn, asked.text)}>
          <RotateCcw size={14} aria-hidden="true" /> {isBlocked && !isOpen ? strings.retryBlocked : strings.retry}
        </button>
      )}
    </p>
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
): void {
  const isAtEnd = useRef(true)
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
