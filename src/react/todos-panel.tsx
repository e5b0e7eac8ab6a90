import { ChevronDown, ChevronUp, Plus } from 'lucide-react'
import { type ReactElement, useEffect, useId, useState } from 'react'
import type { Client } from '../client/client.ts'
import { type Conversation, openTasks, tasksInView } from '../domain/conversation.ts'
import { isOpen, type Task } from '../domain/task.ts'
import { isFinished } from '../domain/turn.ts'
import { TaskRow } from './task-row.tsx'
import type { ConversationView } from './use-conversation.ts'
import { clockOf, useNow } from './use-now.ts'
import { useWords } from './words.ts'

/** So many are shown; the others are counted. */
const MOST_SHOWN = 50
const CONTINUING_MS = 2_000

export interface TodosPanelProps {
  readonly client: Client
  readonly view: ConversationView
  /** Goes on with what a turn left open. Without it there is no such button. */
  readonly onContinue?: (turnId: string) => void
  /** What went wrong with a change; by default it is shown in the panel. */
  readonly onError?: (error: Error) => void
}

/** The plan: one line that says where it stands, and the list behind it, which a person can change at any time. */
export function TodosPanel({ client, view, onContinue, onError }: TodosPanelProps): ReactElement | null {
  const words = useWords()
  const { conversation } = view.state
  const [isExpanded, setExpanded] = useState(false)
  const [problem, setProblem] = useState('')
  const listId = useId()
  const tasks = tasksInView(conversation).filter(({ status }) => status !== 'cancelled')
  const current = currentOf(conversation, tasks)
  const now = useNow(current !== undefined)
  const continuing = useContinuing(view)
  if (tasks.length === 0) return null

  const done = tasks.filter(({ status }) => status === 'completed').length
  const open = tasks.filter(isOpen).length
  const blocked = tasks.filter(({ status }) => status === 'blocked').length
  const left = leftBehind(conversation)
  const failed = (error: Error): void => (onError ? onError(error) : setProblem(error.message))
  const change = (work: Promise<unknown>): void => {
    setProblem('')
    void work.catch(failed)
  }
  return (
    <section className="rs-panel rs-todos" aria-label={words.plan}>
      <button
        type="button"
        className="rs-summary"
        aria-expanded={isExpanded}
        aria-controls={listId}
        aria-label={`${words.plan}: ${isExpanded ? words.collapse : words.expand}`}
        onClick={() => setExpanded(!isExpanded)}
      >
        <span className="rs-current">
          {continuing === undefined ? (current?.title ?? words.noCurrent) : words.continuing(continuing)}
        </span>
        {current?.started_at !== undefined && (
          <span className="rs-elapsed" title={words.elapsed(clockOf(now - Date.parse(current.started_at)))}>
            {clockOf(now - Date.parse(current.started_at))}
          </span>
        )}
        <span className="rs-counts">
          {words.progress(done, tasks.length)} · {words.remaining(open)}
          {blocked > 0 && <span className="rs-blocked"> · {words.blocked(blocked)}</span>}
        </span>
        {isExpanded ? <ChevronDown size={16} aria-hidden="true" /> : <ChevronUp size={16} aria-hidden="true" />}
      </button>
      <div
        className="rs-progress"
        role="progressbar"
        aria-label={words.plan}
        aria-valuemin={0}
        aria-valuemax={tasks.length}
        aria-valuenow={tasks.length - open}
      >
        <div style={{ width: `${((tasks.length - open) / tasks.length) * 100}%` }} />
      </div>
      <p className="rs-sr" role="status">
        {current ? `${current.title}. ` : ''}
        {words.remaining(open)}
      </p>
      {left !== undefined && (
        <div className="rs-warning" role="status">
          <span>{words.incomplete(left.count)}</span>
          {onContinue && (
            <button type="button" className="rs-button" onClick={() => onContinue(left.turn)}>
              {words.continueTurn}
            </button>
          )}
        </div>
      )}
      {problem !== '' && (
        <p className="rs-problem" role="alert">
          {problem}
        </p>
      )}
      <div id={listId} hidden={!isExpanded}>
        <ol className="rs-list">
          {tasks.slice(0, MOST_SHOWN).map((task, place) => (
            <TaskRow
              key={task.id}
              task={task}
              isNews={isNews(conversation, task)}
              onChange={fields => change(client.changeTask(task.session_id, task.id, task.version, fields))}
              {...(place > 0 ? { before: tasks[place - 1] } : {})}
              {...(place < tasks.length - 1 ? { after: tasks[place + 1] } : {})}
            />
          ))}
        </ol>
        {tasks.length > MOST_SHOWN && <p className="rs-more">{words.more(tasks.length - MOST_SHOWN)}</p>}
        <AddTask onAdd={title => change(client.addTask(conversation.session_id, { title }))} />
      </div>
    </section>
  )
}

function AddTask({ onAdd }: { readonly onAdd: (title: string) => void }): ReactElement {
  const words = useWords()
  const [title, setTitle] = useState('')
  return (
    <form
      className="rs-add"
      onSubmit={event => {
        event.preventDefault()
        if (title.trim() === '') return
        onAdd(title)
        setTitle('')
      }}
    >
      <input
        className="rs-input"
        aria-label={words.newTask}
        placeholder={words.newTask}
        value={title}
        onChange={event => setTitle(event.target.value)}
      />
      <button type="submit" className="rs-button" disabled={title.trim() === ''}>
        <Plus size={16} aria-hidden="true" /> {words.addTask}
      </button>
    </form>
  )
}

/** The title of a step that was just taken up, for two seconds. */
function useContinuing({ onEvent }: ConversationView): string | undefined {
  const [title, setTitle] = useState<string>()
  useEffect(
    () => onEvent(event => (event.type === 'todos_resubmitting' ? setTitle(event.data.next) : undefined)),
    [onEvent],
  )
  useEffect(() => {
    if (title === undefined) return
    const timer = setTimeout(() => setTitle(undefined), CONTINUING_MS)
    return () => clearTimeout(timer)
  }, [title])
  return title
}

/** Of several plans that of the running or latest turn counts. */
function currentOf(state: Conversation, tasks: readonly Task[]): Task | undefined {
  const turn = state.running_turn ?? state.latest_turn ?? undefined
  const own = openTasks(state, turn).find(({ status }) => status === 'in_progress')
  return own ?? tasks.find(({ status }) => status === 'in_progress')
}

/** What the latest turn left open, once it is over. */
function leftBehind(state: Conversation): { readonly turn: string; readonly count: number } | undefined {
  const turn =
    state.running_turn === null && state.latest_turn !== null ? state.turns.get(state.latest_turn) : undefined
  if (!turn || !isFinished(turn) || turn.status === 'done') return undefined
  const count = openTasks(state, turn.id).length
  return count === 0 ? undefined : { turn: turn.id, count }
}

/** Whether a person changed it and the agent has not been told yet. */
function isNews({ edits, answered_seq }: Conversation, { id }: Task): boolean {
  return Object.values(edits.get(id) ?? {}).some(seq => seq > answered_seq)
}
