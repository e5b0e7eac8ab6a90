import { History, Languages, Menu, SunMoon } from 'lucide-react'
import { type ReactElement, type RefObject, useEffect, useRef, useState } from 'react'
import { type Client, RunsheetError, type Toolset } from '../src/client/index.ts'
import { ReviewPanel, Timeline, TodosPanel, useConversation } from '../src/react/index.ts'
import { Composer } from './composer.tsx'
import { isFresh } from './fresh.ts'
import { Messages } from './messages.tsx'
import type { AppWords } from './words.ts'

interface ChatProps {
  readonly client: Client
  readonly words: AppWords
  readonly session: string
  readonly onMenu: () => void
  readonly onTitle: () => void
  readonly onLanguage: () => void
  readonly onSignedOut: () => void
}

const TOOLSETS: readonly Toolset[] = [
  'runsheet',
  'task_manager',
  'manage_todos',
  'turn_todos',
  'checklist',
  'task_list',
]

/** One conversation: what was said, the plan or the review above the input, and the input. */
export function Chat({ client, words, session, onMenu, onTitle, onLanguage, onSignedOut }: ChatProps): ReactElement {
  const view = useConversation(client, session, isFresh(session))
  const { state, retry } = view
  const { conversation, status, title } = state
  const [chosen, setChosen] = useState<{ toolset?: Toolset; model?: string }>({})
  const [models, setModels] = useState<readonly string[]>([])
  const [problem, setProblem] = useState<{ readonly message: string; readonly again?: () => void }>()
  const [showsHistory, setShowsHistory] = useState(false)
  const toolset = chosen.toolset ?? conversation.policy?.toolset ?? 'runsheet'
  const running = conversation.running_turn
  const above = useRef<HTMLDivElement>(null)
  const covered = useHeight(above)

  useEffect(() => {
    client.models().then(
      answer => setModels(answer.models.map(({ name }) => name)),
      () => {},
    )
  }, [client])
  useEffect(() => {
    if (status === 'failed' && state.error?.status === 401) onSignedOut()
  }, [status, state.error, onSignedOut])
  useEffect(onTitle, [title, conversation.turns.size])
  useEffect(() => {
    document.title = title === null ? 'Runsheet' : `${title} · Runsheet`
  }, [title])

  const send = async (message: string, more: { continue_turn_id?: string } = {}): Promise<boolean> => {
    setProblem(undefined)
    const turn_id = `turn-${crypto.randomUUID()}`
    const fields = toolset === conversation.policy?.toolset ? {} : defaultsOf(toolset)
    try {
      await client.chat({
        session_id: session,
        turn_id,
        message,
        ...fields,
        ...(chosen.model === undefined ? {} : { model: chosen.model }),
        ...more,
      })
      retry()
      return true
    } catch (error) {
      const told = error instanceof RunsheetError ? error.message : String(error)
      setProblem({ message: told, again: () => void send(message, more) })
      return false
    }
  }
  return (
    <main className="app-main">
      <header className="app-head">
        <button type="button" className="rs-icon app-menu" aria-label={words.menu} onClick={onMenu}>
          <Menu size={18} aria-hidden="true" />
        </button>
        <h1 className="app-title">{title ?? words.untitled}</h1>
        <label className="app-choice">
          <span className="rs-sr">{words.toolset}</span>
          <select
            className="rs-input"
            value={toolset}
            disabled={running !== null}
            onChange={event => setChosen({ ...chosen, toolset: event.target.value as Toolset })}
          >
            {TOOLSETS.map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {models.length > 0 && (
          <label className="app-choice">
            <span className="rs-sr">{words.model}</span>
            <select
              className="rs-input"
              value={chosen.model ?? models[0]}
              onChange={event => setChosen({ ...chosen, model: event.target.value })}
            >
              {models.map(name => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <button
          type="button"
          className="rs-icon"
          aria-label={words.history}
          aria-pressed={showsHistory}
          onClick={() => setShowsHistory(!showsHistory)}
        >
          <History size={18} aria-hidden="true" />
        </button>
        <button type="button" className="rs-icon" aria-label={words.theme} onClick={switchTheme}>
          <SunMoon size={18} aria-hidden="true" />
        </button>
        <button
          type="button"
          className="rs-icon"
          aria-label={words.language}
          title={words.language}
          onClick={onLanguage}
        >
          <Languages size={18} aria-hidden="true" />
        </button>
      </header>
      {status === 'reconnecting' && (
        <p className="app-notice" role="status">
          {words.reconnecting}
        </p>
      )}
      {showsHistory ? (
        <div className="app-scroll">
          <Timeline client={client} sessionId={session} asOf={conversation.seq} />
          <div style={{ height: covered }} />
        </div>
      ) : (
        <Messages view={view} words={words} covered={covered} onTry={message => void send(message)} />
      )}
      <div className="app-foot">
        <div className="app-above" ref={above}>
          {conversation.pending_reviews.length === 0 && (
            <TodosPanel
              client={client}
              view={view}
              onContinue={turn => void send(words.continueMessage, { continue_turn_id: turn })}
            />
          )}
          <ReviewPanel client={client} view={view} onAskAgain={() => void send(words.againMessage)} />
        </div>
        {problem && (
          <p className="rs-problem" role="alert">
            {problem.message}{' '}
            {problem.again && (
              <button type="button" className="rs-button" onClick={problem.again}>
                {words.retry}
              </button>
            )}
          </p>
        )}
        <Composer
          words={words}
          session={session}
          isRunning={running !== null}
          onSend={send}
          onStop={() =>
            void (
              running && client.stop(session, running).catch((error: Error) => setProblem({ message: error.message }))
            )
          }
        />
      </div>
    </main>
  )
}

/** A toolset that is switched to brings its own say: what held for another one need not fit it. */
function defaultsOf(toolset: Toolset) {
  const judged = toolset === 'runsheet' || toolset === 'manage_todos'
  return {
    toolset,
    review: toolset === 'runsheet' || toolset === 'task_manager',
    assessor: judged,
    gate: toolset === 'runsheet' || toolset === 'turn_todos',
  }
}

function switchTheme(): void {
  const root = document.documentElement
  const isDark = root.dataset['theme']
    ? root.dataset['theme'] === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset['theme'] = isDark ? 'light' : 'dark'
  localStorage.setItem('runsheet.theme', root.dataset['theme'])
}

/** How much of the messages the panel above the input covers: they keep that free, and nothing else moves. */
function useHeight(element: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0)
  useEffect(() => {
    const observed = element.current
    if (!observed) return
    const observer = new ResizeObserver(() => setHeight(observed.offsetHeight))
    observer.observe(observed)
    return () => observer.disconnect()
  }, [element])
  return height
}
