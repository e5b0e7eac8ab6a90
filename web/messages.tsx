import { Check, Copy } from 'lucide-react'
import { lazy, type ReactElement, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Message } from '../src/client/index.ts'
import type { ConversationView } from '../src/react/index.ts'
import type { AppWords } from './words.ts'

const Markdown = lazy(() => import('./markdown.tsx'))

interface MessagesProps {
  readonly view: ConversationView
  readonly words: AppWords
  /** So many pixels at the end are covered by a panel. */
  readonly covered: number
  readonly onTry: (message: string) => void
}

/** What was said, the newest in sight; and before anything was, what to try. */
export function Messages({ view, words, covered, onTry }: MessagesProps): ReactElement {
  const { messages, text, conversation, status } = view.state
  const scroller = useRef<HTMLDivElement>(null)
  useStickToEnd(scroller, `${messages.length} ${text?.text.length ?? 0} ${covered}`)
  const said = messages.filter(
    message => message.synthetic !== true && (message.text !== '' || message.tool_calls?.length),
  )
  const isEmpty = said.length === 0 && text === null
  const isRunning = conversation.running_turn !== null
  return (
    <div className="app-scroll" ref={scroller} tabIndex={0} role="region" aria-label={words.messages}>
      {isEmpty && (status === 'live' || status === 'waiting') ? (
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
          {said.map(message => (
            <Said key={message.message_id} message={message} words={words} />
          ))}
          {text !== null && (
            <article className="app-message app-message-assistant">
              <Suspense fallback={<p>{text.text}</p>}>
                <Markdown text={text.text} isGrowing />
              </Suspense>
            </article>
          )}
          {isRunning && text === null && (
            <p className="app-quiet" role="status">
              {conversation.pending_reviews.length > 0 ? words.waitingForYou : words.thinking}
            </p>
          )}
        </div>
      )}
      <div style={{ height: covered }} />
    </div>
  )
}

function Said({ message, words }: { readonly message: Message; readonly words: AppWords }): ReactElement {
  const calls = (message.tool_calls ?? []) as readonly { tool?: string; arguments?: unknown }[]
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
      {calls.map((call, i) => (
        <details key={i} className="app-call">
          <summary>{words.toolCall(call.tool ?? '')}</summary>
          <pre>{JSON.stringify(call.arguments, null, 2)}</pre>
        </details>
      ))}
      {message.role === 'assistant' && message.text !== '' && <CopyButton text={message.text} words={words} />}
    </article>
  )
}

function CopyButton({ text, words }: { readonly text: string; readonly words: AppWords }): ReactElement {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <button
      type="button"
      className="rs-icon app-copy"
      aria-label={isCopied ? words.copied : words.copy}
      title={isCopied ? words.copied : words.copy}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />}
    </button>
  )
}

/** Stays at the end while it is there; whoever has scrolled up reads on undisturbed. */
function useStickToEnd(scroller: { readonly current: HTMLDivElement | null }, change: string): void {
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
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [scroller, change])
}
