import {
  Button,
  localeOf,
  plainMarkdown,
  PlanContinued,
  StatusIcon,
  Timeline,
  turnsInOrder,
  useRunsheet,
} from 'runsheet/react'
import { ArrowLeft, ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { type Standing, standingWordOf, startedBy, type Task, tasksAt, turnOf } from 'runsheet/client'
import { bottomInset } from '../chat/layout.ts'
import { isList } from '../chat/models.ts'
import { chatRoute, go, historyRoute } from '../route.ts'
import { type PageStrings, usePageStrings } from '../texts/strings.ts'
import './lists.css'

interface HistoryProps {
  readonly task: string | undefined
  readonly covered: number
}

export function History({ task, covered }: HistoryProps): ReactElement {
  const strings = usePageStrings()
  const { view } = useRunsheet()
  const { conversation, messages, resolutions, status: connection } = view.state
  const turns = turnsInOrder(conversation)
  const areItems = conversation.policy !== null && isList(conversation.policy)
  const numbers = new Map(turns.map(({ id }, index) => [id, index + 1]))
  // A continued plan appears under several turns: the task opens where it was clicked, otherwise in its current turn.
  const [openIn, setOpenIn] = useState<string>()
  const [showsAll, setShowsAll] = useState(false)
  const isKnown = task === undefined || task in conversation.tasks
  return (
    <section className="app-scroll" tabIndex={0} aria-label={strings.history} style={bottomInset(covered)}>
      <div className="app-history">
        <Button className="app-back" onClick={() => go(chatRoute(conversation.session_id))}>
          <ArrowLeft size={16} aria-hidden="true" /> {strings.backToChat}
        </Button>
        {turns.length === 0 && (
          <p className="app-quiet">{connection === 'connecting' ? strings.loading : strings.noHistory}</p>
        )}
        {task !== undefined && !isKnown && connection === 'live' && <Timeline taskId={task} />}
        {turns.map((turn, index) => {
          const asked = messages.find(message => message.turn_id === turn.id && message.role === 'user')
          const decided = startedBy(resolutions, turn.id)
          const tasks = tasksAt(conversation, turn.id)
          const open = tasks.filter(each => each.status === 'pending' || each.status === 'in_progress').length
          // Without gate and judge a turn ends as done even if steps are open. List items are the person's, so they do
          // not count.
          const status = turn.status === 'done' && open > 0 && !areItems ? 'incomplete' : turn.status
          return (
            <article key={turn.id} className="app-turn" aria-label={strings.turn(index + 1)}>
              <header>
                <h2>{strings.turn(index + 1)}</h2>
                <span className={`app-chip app-chip-${status}`}>
                  {[
                    // The person's open items are more useful here than "done".
                    ...(areItems && status === 'done' && open > 0 ? [] : [strings.turnStatus[status]]),
                    ...(open > 0 ? [strings.openOf(open, tasks.length)] : []),
                  ].join(' · ')}
                </span>
                <time dateTime={turn.started_at}>
                  {new Date(turn.started_at).toLocaleString(localeOf(strings.panels))}
                </time>
              </header>
              <div className="app-request">
                {decided ? <PlanContinued outcome={decided} /> : (asked?.text ?? strings.byOtherAgent)}
              </div>
              {tasks.length === 0 ? (
                <p className="app-quiet">{strings.noTasks}</p>
              ) : (
                <ul className="app-turn-tasks">
                  {tasks.map(each => {
                    const plan = turnOf(conversation, each)
                    return (
                      <TaskHistory
                        key={each.id}
                        task={each}
                        standing={standingWordOf(conversation, each)}
                        elsewhere={areItems ? undefined : placeText(strings, index + 1, numbers.get(plan))}
                        isOpen={each.id === task && (openIn ?? plan) === turn.id}
                        onTask={opened => {
                          setOpenIn(opened === undefined ? undefined : turn.id)
                          go(historyRoute(conversation.session_id, opened))
                        }}
                      />
                    )
                  })}
                </ul>
              )}
            </article>
          )
        })}
        {turns.length > 0 && (
          <details className="app-all-events" onToggle={event => setShowsAll(event.currentTarget.open)}>
            <summary>{strings.allEvents}</summary>
            {showsAll && <Timeline />}
          </details>
        )}
      </div>
    </section>
  )
}

function placeText(strings: PageStrings, turn: number, planTurn: number | undefined): string | undefined {
  if (planTurn === undefined || planTurn === turn) return undefined
  return planTurn > turn ? strings.continuedIn(planTurn) : strings.fromTurn(planTurn)
}

interface TaskHistoryProps {
  readonly task: Task
  readonly standing: Standing | undefined
  /** The other turn of a continued plan. */
  readonly elsewhere: string | undefined
  readonly isOpen: boolean
  readonly onTask: (task: string | undefined) => void
}

function TaskHistory({ task, standing, elsewhere, isOpen, onTask }: TaskHistoryProps): ReactElement {
  const strings = usePageStrings()
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isOpen) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <li ref={row}>
      <button
        type="button"
        className="app-task-history"
        aria-expanded={isOpen}
        onClick={() => onTask(isOpen ? undefined : task.id)}
      >
        <StatusIcon status={task.status} />
        <span className="app-task-history-title">
          <bdi>{task.title}</bdi>
          {elsewhere !== undefined && <small>{elsewhere}</small>}
          {standing !== undefined && <small>{strings.panels.checks.standing[standing]}</small>}
          {task.outcome !== undefined && (
            <small className="rs-lines" dir="auto">
              {plainMarkdown(task.outcome)}
            </small>
          )}
        </span>
        {isOpen ? <ChevronDown size={16} aria-hidden="true" /> : <ChevronRight size={16} aria-hidden="true" />}
      </button>
      {isOpen && (
        <div className="app-task-history-events" role="group" aria-label={strings.taskHistory(task.title)}>
          <Timeline taskId={task.id} />
        </div>
      )}
    </li>
  )
}
