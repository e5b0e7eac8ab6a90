import { History as HistoryIcon, Menu } from 'lucide-react'
import { type ReactElement, type RefObject, useEffect, useRef, useState } from 'react'
import { type Client, openTasks, type ToolsetName } from '../src/client/index.ts'
import { explained } from '../src/react/explained.ts'
import { reviewsInOrder } from '../src/react/in-order.ts'
import { ReviewPanel, TodosPanel, useConversation } from '../src/react/index.ts'
import { Composer } from './composer.tsx'
import { isFresh } from './fresh.ts'
import { History } from './history.tsx'
import { Messages } from './messages.tsx'
import { historyOf, type Place } from './place.ts'
import { Switches } from './switches.tsx'
import { useSend } from './use-send.ts'
import type { AppWords } from './words.ts'

interface ChatProps {
  readonly client: Client
  readonly words: AppWords
  readonly place: Place
  /** The conversations lie over it. */
  readonly isCovered: boolean
  readonly onGo: (place: Place) => void
  readonly onChat: () => void
  readonly onMenu: () => void
  /** The list of conversations may say something else now. */
  readonly onChanged: () => void
  readonly onLanguage: () => void
  readonly onSignedOut: () => void
}

const TOOLSETS: readonly ToolsetName[] = [
  'runsheet',
  'task_manager',
  'manage_todos',
  'turn_todos',
  'checklist',
  'task_list',
]

/** One conversation: what was said, the plan or the review above the input, and the input. */
export function Chat(props: ChatProps): ReactElement {
  const { client, words, place, isCovered, onGo, onChat, onMenu, onChanged, onLanguage, onSignedOut } = props
  const { session } = place
  const view = useConversation(client, session, isFresh(session))
  const { conversation, status, title, error } = view.state
  const [chosen, setChosen] = useState<{ toolset?: ToolsetName; model?: string }>({})
  const models = useModels(client)
  const toolset = chosen.toolset ?? conversation.policy?.toolset ?? 'runsheet'
  const model = chosen.model ?? models.usual
  const running = conversation.running_turn
  // Pressed here, or in another window: it ends as soon as what is under way lets go.
  const [stopping, setStopping] = useState<string>()
  const isStopping =
    running !== null && (stopping === running || (conversation.turns[running]?.stop_requested ?? false))
  const above = useRef<HTMLDivElement>(null)
  const covered = useHeight(above)

  useEffect(() => {
    if (status === 'failed' && error?.status === 401) onSignedOut()
  }, [status, error, onSignedOut])
  const turnCount = Object.keys(conversation.turns).length
  useEffect(onChanged, [onChanged, title, turnCount, conversation.pending_reviews.length])
  useEffect(() => {
    document.title = title === null ? 'Runsheet' : `${title} · Runsheet`
  }, [title])

  const isOther = chosen.toolset !== undefined && chosen.toolset !== conversation.policy?.toolset
  const { text, onText, outgoing, trouble, setTrouble, send, sendTyped } = useSend(client, session, view, {
    ...(isOther ? defaultsOf(toolset) : {}),
    ...(chosen.model === undefined ? {} : { model: chosen.model }),
  })
  /** What the person asked for in a turn. */
  const requestOf = (turn: string): string | undefined =>
    view.state.messages.find(({ turn_id, role, synthetic }) => turn_id === turn && role === 'user' && !synthetic)?.text
  /** Asks for a plan again that nobody decided on; where an agent elsewhere made it, by what it was. */
  const askAgain = async (turn: string): Promise<void> => {
    const request = requestOf(turn)
    if (request !== undefined) return send(request)
    const last = reviewsInOrder(conversation).findLast(({ conversation_turn_id }) => conversation_turn_id === turn)
    try {
      const { review } = await client.review(last?.review_id ?? '')
      send(words.againMessage(review.draft_tasks.map(row => row.title)))
    } catch (error) {
      setTrouble({ error, again: () => void askAgain(turn) })
    }
  }
  const stop = (): void => {
    if (running === null) return
    setTrouble(undefined)
    setStopping(running)
    client.stop(session, running).catch((error: unknown) => {
      setStopping(undefined)
      setTrouble({ error, again: stop })
    })
  }
  return (
    <main className="app-main" inert={isCovered}>
      <header className="app-head">
        <button type="button" className="rs-icon app-menu" aria-label={words.menu} title={words.menu} onClick={onMenu}>
          <Menu size={18} aria-hidden="true" />
        </button>
        <h1 className="app-title">{title ?? words.untitled}</h1>
        <button
          type="button"
          className="rs-icon"
          aria-label={words.history}
          title={words.history}
          aria-pressed={place.isHistory}
          onClick={() => (place.isHistory ? onChat() : onGo(historyOf(session)))}
        >
          <HistoryIcon size={18} aria-hidden="true" />
        </button>
        <Switches words={words} onLanguage={onLanguage} />
      </header>
      <div className="app-body">
        <p className="app-notice" role="status">
          {status === 'reconnecting' ? words.reconnecting : ''}
        </p>
        {status === 'failed' && error && error.status !== 401 && (
          <p className="app-alert" role="alert">
            {explained(words.panels, error)}
          </p>
        )}
        {place.isHistory ? (
          <History
            client={client}
            view={view}
            words={words}
            task={place.task}
            covered={covered}
            onTask={task => onGo(historyOf(session, task))}
            onChat={onChat}
          />
        ) : (
          <Messages
            client={client}
            view={view}
            words={words}
            covered={covered}
            outgoing={outgoing?.message}
            isStopping={isStopping}
            onTry={sendTyped}
            onRetry={(turn, message) =>
              send(message, openTasks(conversation, turn).length > 0 ? { continue_turn_id: turn } : {})
            }
          />
        )}
        <div className="app-above" ref={above}>
          {trouble && (
            <p className="app-alert" role="alert">
              <span>{explained(words.panels, trouble.error)}</span>
              <button type="button" className="rs-button" onClick={trouble.again}>
                {words.retry}
              </button>
            </p>
          )}
          {conversation.pending_reviews.length === 0 && (
            <TodosPanel
              client={client}
              view={view}
              onContinue={turn => send(words.continueMessage, { continue_turn_id: turn })}
            />
          )}
          <ReviewPanel client={client} view={view} onAskAgain={turn => void askAgain(turn)} />
        </div>
      </div>
      <div className="app-foot">
        <Composer
          words={words}
          text={text}
          onText={onText}
          isNew={isFresh(session)}
          isRunning={running !== null}
          isSending={outgoing !== undefined}
          isStopping={isStopping}
          choices={[
            {
              label: words.toolset,
              value: toolset,
              values: TOOLSETS,
              onChoose: value => setChosen({ ...chosen, toolset: value as ToolsetName }),
            },
            ...(model === undefined
              ? []
              : [
                  {
                    label: words.model,
                    value: model,
                    values: models.names,
                    onChoose: (value: string) => setChosen({ ...chosen, model: value }),
                  },
                ]),
          ]}
          onSend={sendTyped}
          onStop={stop}
        />
      </div>
    </main>
  )
}

/** A toolset that is switched to brings its own say: what held for another one need not fit it. */
function defaultsOf(toolset: ToolsetName) {
  const judged = toolset === 'runsheet' || toolset === 'manage_todos'
  return {
    toolset,
    review: toolset === 'runsheet' || toolset === 'task_manager',
    assessor: judged,
    gate: toolset === 'runsheet' || toolset === 'turn_todos',
  }
}

function useModels(client: Client): { readonly names: readonly string[]; readonly usual: string | undefined } {
  const [models, setModels] = useState<readonly { name: string; default: boolean }[]>([])
  useEffect(() => {
    let isCurrent = true
    client.models().then(
      answer => isCurrent && setModels(answer.models),
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [client])
  return { names: models.map(({ name }) => name), usual: (models.find(each => each.default) ?? models[0])?.name }
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
