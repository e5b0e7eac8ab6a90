import { ArrowLeft, ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { type Client, type ConversationSnapshot, listed, planTurnOf, type Task } from '../src/client/index.ts'
import { type ConversationView, Timeline } from '../src/react/index.ts'
import { turnsInOrder } from '../src/react/in-order.ts'
import { localeOf } from '../src/react/locale.ts'
import { StatusIcon } from '../src/react/status-icon.tsx'
import { roomFor } from './room.ts'
import type { AppWords } from './words.ts'

interface HistoryProps {
  readonly client: Client
  readonly view: ConversationView
  readonly words: AppWords
  /** The one whose timeline is shown. */
  readonly task: string | undefined
  readonly covered: number
  readonly onTask: (task: string | undefined) => void
  readonly onChat: () => void
}

/** What happened, turn by turn: what was asked, what was planned, and each task's own story. */
export function History({ client, view, words, task, covered, onTask, onChat }: HistoryProps): ReactElement {
  const { conversation, messages, status } = view.state
  const plans = Map.groupBy(listed(conversation), each => planTurnOf(conversation, each))
  const turns = turnsInOrder(conversation)
  const [showsAll, setShowsAll] = useState(false)
  const isKnown = task === undefined || Object.hasOwn(conversation.tasks, task)
  return (
    <section className="app-scroll" tabIndex={0} aria-label={words.history} style={roomFor(covered)}>
      <div className="app-history">
        <button type="button" className="rs-button app-back" onClick={onChat}>
          <ArrowLeft size={16} aria-hidden="true" /> {words.backToChat}
        </button>
        {turns.length === 0 && <p className="app-quiet">{status === 'connecting' ? words.loading : words.noHistory}</p>}
        {task !== undefined && !isKnown && status === 'live' && (
          <Timeline client={client} sessionId={conversation.session_id} taskId={task} asOf={conversation.seq} />
        )}
        {turns.map((turn, place) => {
          const asked = messages.find(message => message.turn_id === turn.id && message.role === 'user')
          const tasks = plans.get(turn.id) ?? []
          return (
            <article key={turn.id} className="app-turn" aria-label={words.turn(place + 1)}>
              <header>
                <h2>{words.turn(place + 1)}</h2>
                <span className={`app-chip app-chip-${turn.status}`}>{words.ended[turn.status]}</span>
                <time dateTime={turn.started_at}>
                  {new Date(turn.started_at).toLocaleString(localeOf(words.panels))}
                </time>
              </header>
              <p className="app-asked">{asked?.text ?? words.byAgent}</p>
              {tasks.length === 0 ? (
                <p className="app-quiet">{words.noTasks}</p>
              ) : (
                <ul className="app-turn-tasks">
                  {tasks.map(each => (
                    <Story
                      key={each.id}
                      client={client}
                      conversation={conversation}
                      words={words}
                      task={each}
                      isOpen={each.id === task}
                      onTask={onTask}
                    />
                  ))}
                </ul>
              )}
            </article>
          )
        })}
        {turns.length > 0 && (
          <details className="app-all" onToggle={event => setShowsAll(event.currentTarget.open)}>
            <summary>{words.allEvents}</summary>
            {showsAll && <Timeline client={client} sessionId={conversation.session_id} asOf={conversation.seq} />}
          </details>
        )}
      </div>
    </section>
  )
}

interface StoryProps {
  readonly client: Client
  readonly conversation: ConversationSnapshot
  readonly words: AppWords
  readonly task: Task
  readonly isOpen: boolean
  readonly onTask: (task: string | undefined) => void
}

function Story({ client, conversation, words, task, isOpen, onTask }: StoryProps): ReactElement {
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isOpen) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <li ref={row}>
      <button
        type="button"
        className="app-story"
        aria-expanded={isOpen}
        onClick={() => onTask(isOpen ? undefined : task.id)}
      >
        <StatusIcon status={task.status} />
        <span className="app-story-title">
          {task.title}
          {task.status === 'completed' && task.judged_by === null && <small>{words.panels.reportedDone}</small>}
          {task.outcome !== undefined && <small>{task.outcome}</small>}
        </span>
        {isOpen ? <ChevronDown size={16} aria-hidden="true" /> : <ChevronRight size={16} aria-hidden="true" />}
      </button>
      {isOpen && (
        <div className="app-story-events" role="group" aria-label={words.timelineOf(task.title)}>
          <Timeline client={client} sessionId={conversation.session_id} taskId={task.id} asOf={conversation.seq} />
        </div>
      )}
    </li>
  )
}
