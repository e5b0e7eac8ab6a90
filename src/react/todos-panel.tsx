import { ChevronDown, ChevronUp, Plus, TriangleAlert } from 'lucide-react'
import { type ReactElement, useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { Client, PersonsFields } from '../client/client.ts'
import { RunsheetError } from '../client/runsheet-error.ts'
import { openTasks, tasksInView } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { ConversationSnapshot } from '../domain/snapshot.ts'
import { isOpen, type Task } from '../domain/task.ts'
import { isFinished } from '../domain/turn.ts'
import { explained } from './explained.ts'
import { newName } from './new-name.ts'
import { TaskRow } from './task-row.tsx'
import type { ConversationView } from './use-conversation.ts'
import { useDropAtEnd } from './use-drop-at-end.ts'
import { clockOf, useNow } from './use-now.ts'
import { useTold } from './use-told.ts'
import { useWords } from './words.ts'

/** So many are shown; the others are counted. */
const MOST_SHOWN = 50
const CONTINUING_MS = 2_000

/** The props of `TodosPanel`. */
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
  const [added, setAdded] = useState<string>()
  const listId = useId()
  const tasks = tasksInView(conversation)
  const current = currentOf(conversation, tasks)
  const isBusy = isAtWork(conversation)
  const since = isBusy ? current?.started_at : undefined
  const now = useNow(client, since !== undefined)
  const continuing = useContinuing(view)
  const isNews = useTold(view)
  const changeTask = useChanges(client, tasks)
  if (tasks.length === 0) return null

  const planned = tasks.filter(({ status }) => status !== 'cancelled')
  const done = planned.filter(({ status }) => status === 'completed').length
  const open = planned.filter(isOpen).length
  const blocked = planned.length - done - open
  const counts = `${words.progress(done, planned.length)} · ${words.remaining(open)}`
  const left = leftBehind(conversation)
  const isLimited = left !== undefined && view.state.limited.turns.includes(left.turn)
  const change = async (work: Promise<unknown>): Promise<boolean> => {
    setProblem('')
    try {
      await work
      return true
    } catch (error) {
      if (onError) onError(error as Error)
      else setProblem(explained(words, error))
      return false
    }
  }
  return (
    <section className="rs-panel rs-todos" aria-label={words.plan}>
      <button
        type="button"
        className="rs-summary"
        aria-expanded={isExpanded}
        aria-controls={listId}
        onClick={() => setExpanded(!isExpanded)}
      >
        <span className="rs-sr">
          {words.plan}: {isExpanded ? words.collapse : words.expand}.{' '}
        </span>
        <span className="rs-current">
          {isBusy && current && continuing === current.title
            ? words.continuing(continuing)
            : (current?.title ?? words.noCurrent)}
        </span>
        {since !== undefined && (
          <span className="rs-elapsed" title={words.elapsed(clockOf(now - Date.parse(since)))}>
            {clockOf(now - Date.parse(since))}
          </span>
        )}
        <span className="rs-counts">
          {counts}
          {blocked > 0 && <span className="rs-blocked"> · {words.blocked(blocked)}</span>}
        </span>
        {isExpanded ? <ChevronDown size={16} aria-hidden="true" /> : <ChevronUp size={16} aria-hidden="true" />}
      </button>
      <div
        className="rs-progress"
        role="progressbar"
        aria-label={words.plan}
        aria-valuemin={0}
        aria-valuemax={planned.length}
        aria-valuenow={done}
        aria-valuetext={counts}
      >
        <div style={{ width: share(done, planned.length) }} />
        <div className="rs-progress-blocked" style={{ width: share(blocked, planned.length) }} />
      </div>
      <p className="rs-sr" role="status">
        {current ? `${current.title}. ` : ''}
        {words.progress(done, planned.length)}, {words.remaining(open)}
        {blocked > 0 ? `, ${words.blocked(blocked)}` : ''}
      </p>
      {left !== undefined && (
        <div className="rs-warning" role="status">
          <TriangleAlert size={16} aria-hidden="true" />
          <span>{isLimited ? words.limitReached(left.count) : words.incomplete(left.count)}</span>
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
        {isExpanded && (
          <TaskList
            tasks={tasks}
            added={added}
            isNews={isNews}
            onChange={(id, fieldsOf) => change(changeTask(id, fieldsOf))}
          />
        )}
        <AddTask
          onAdd={(title, key) =>
            change(client.addTask(conversation.session_id, { title }, key).then(({ task }) => setAdded(task.id)))
          }
        />
      </div>
    </section>
  )
}

interface TaskListProps {
  readonly tasks: readonly Task[]
  /** The one that was added here last. */
  readonly added: string | undefined
  readonly isNews: (task: Task) => boolean
  readonly onChange: (id: string, fieldsOf: FieldsOf) => Promise<boolean>
}

/** What a person changes, once what they changed before has got through; undefined: nothing is left to change. */
type FieldsOf = () => PersonsFields | undefined

/** The list in its order; beyond so many the settled ones wait behind a button. */
function TaskList({ tasks, added, isNews, onChange }: TaskListProps): ReactElement {
  const words = useWords()
  const [showsAll, setShowsAll] = useState(false)
  const [moved, setMoved] = useState('')
  const list = useRef<HTMLOListElement>(null)
  // What is under way is in sight when the list comes up.
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>('.rs-task-in_progress')
    if (list.current && row) list.current.scrollTop = row.offsetTop - list.current.clientHeight / 2
  }, [])
  const shown = showsAll ? tasks : firstOf(tasks)
  const isThere = added !== undefined && tasks.some(({ id }) => id === added)
  const isShown = isThere && shown.some(({ id }) => id === added)
  // Whoever added one sees it, wherever it came to stand.
  useLayoutEffect(() => {
    if (isThere && !isShown) setShowsAll(true)
    if (isShown) list.current?.querySelector(`[data-task="${added}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [added, isThere, isShown])
  const latest = useRef(shown)
  latest.current = shown
  const move = (id: string, to: number): void => {
    const by = to - shown.findIndex(each => each.id === id)
    // One after the other: each step goes from where the one before has led.
    void onChange(id, () => {
      const place = latest.current.findIndex(each => each.id === id) + by
      const there = latest.current[place]
      if (!there || there.id === id) return undefined
      setMoved(words.movedTo(place + 1, latest.current.length))
      return { position: there.position }
    })
  }
  useDropAtEnd('plan', list, ({ key }, to) => move(key, to))
  // The same for all rows and at every drawing, so that those that did not change are left alone.
  const act = useRef({ onChange, move })
  act.current = { onChange, move }
  const rowChanged = useCallback((id: string, fields: PersonsFields) => act.current.onChange(id, () => fields), [])
  const rowMoved = useCallback((id: string, to: number) => act.current.move(id, to), [])
  return (
    <>
      <ol className="rs-list" ref={list}>
        {shown.map((task, place) => (
          <TaskRow
            key={task.id}
            task={task}
            place={place}
            count={shown.length}
            isNews={isNews(task)}
            onChange={rowChanged}
            onMove={rowMoved}
          />
        ))}
      </ol>
      <p className="rs-sr" role="status">
        {moved}
      </p>
      {shown.length < tasks.length && (
        <button type="button" className="rs-more" onClick={() => setShowsAll(true)}>
          {words.more(tasks.length - shown.length)}
        </button>
      )}
    </>
  )
}

function AddTask({ onAdd }: { readonly onAdd: (title: string, key: string) => Promise<boolean> }): ReactElement {
  const words = useWords()
  const [title, setTitle] = useState('')
  // The same again, after a line that broke off, is the same task.
  const last = useRef({ title: '', key: '' })
  const add = async (): Promise<void> => {
    if (title.trim() === '') return
    if (last.current.title !== title) last.current = { title, key: newName() }
    setTitle('')
    if (await onAdd(title, last.current.key)) last.current = { title: '', key: '' }
    else setTitle(later => (later === '' ? title : later))
  }
  return (
    <form
      className="rs-add"
      onSubmit={event => {
        event.preventDefault()
        void add()
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
  const [taken, setTaken] = useState<{ readonly title: string }>()
  useEffect(
    () =>
      onEvent(event => {
        const title = takenUp(event)
        if (title !== undefined) setTaken({ title })
      }),
    [onEvent],
  )
  useEffect(() => {
    if (taken === undefined) return
    const timer = setTimeout(() => setTaken(undefined), CONTINUING_MS)
    return () => clearTimeout(timer)
  }, [taken])
  return taken?.title
}

/** The step that an event takes up: the next one of a plan, whatever its toolset. */
function takenUp({ type, data }: StoredEvent): string | undefined {
  if (type === 'todos_resubmitting') return data.next
  const isNext = type === 'task_changed' && data.task.status === 'in_progress' && data.from['status'] === 'pending'
  return isNext ? data.task.title : undefined
}

/** How long to wait for the log to say what was answered: who has no stream looks every two seconds. */
const LOG_LATE_MS = 4_000

/** A person's changes, one after the other: the next begins once the list says what came of the one before. */
function useChanges(client: Client, tasks: readonly Task[]): (id: string, fieldsOf: FieldsOf) => Promise<void> {
  const latest = useRef(tasks)
  latest.current = tasks
  const look = useRef(() => {})
  useEffect(() => look.current(), [tasks])
  const last = useRef(Promise.resolve())
  const shows = (id: string, version: number): boolean =>
    latest.current.every(task => task.id !== id || task.version >= version)
  const shown = (id: string, version: number): Promise<void> =>
    new Promise(resolve => {
      const timer = setTimeout(resolve, LOG_LATE_MS)
      look.current = () => {
        if (!shows(id, version)) return
        clearTimeout(timer)
        resolve()
      }
      look.current()
    })
  return (id, fieldsOf) => {
    const change = async (): Promise<void> => {
      const task = latest.current.find(each => each.id === id)
      const fields = fieldsOf()
      if (!task || !fields) return
      await shown(id, await changed(client, task, fields))
    }
    const done = last.current.then(change)
    last.current = done.catch(() => {})
    return done
  }
}

/** A person's change, though the task has moved on meanwhile: unless it moved on in what they change. */
async function changed(client: Client, task: Task, fields: PersonsFields): Promise<number> {
  try {
    return (await client.changeTask(task.session_id, task.id, task.version, fields)).task.version
  } catch (error) {
    const now = error instanceof RunsheetError && error.code === 'version_mismatch' ? error.details.task : undefined
    const isSame = now && (Object.keys(fields) as (keyof PersonsFields)[]).every(field => now[field] === task[field])
    if (!isSame) throw error
    return (await client.changeTask(task.session_id, task.id, now.version, fields)).task.version
  }
}

/** As many as are shown, in list order: what is not settled before what is, and of that the latest. */
function firstOf(tasks: readonly Task[]): readonly Task[] {
  if (tasks.length <= MOST_SHOWN) return tasks
  const unsettled = tasks.filter(task => isOpen(task) || task.status === 'blocked').slice(0, MOST_SHOWN)
  const others = tasks.filter(task => !isOpen(task) && task.status !== 'blocked')
  const chosen = new Set([...unsettled, ...others.slice(others.length - (MOST_SHOWN - unsettled.length))])
  return tasks.filter(task => chosen.has(task))
}

const share = (count: number, total: number): string => `${total === 0 ? 0 : (count / total) * 100}%`

/** Of several plans that of the running or latest turn counts. */
function currentOf(state: ConversationSnapshot, tasks: readonly Task[]): Task | undefined {
  const turn = state.running_turn ?? state.latest_turn ?? undefined
  const own = openTasks(state, turn).find(({ status }) => status === 'in_progress')
  return own ?? tasks.find(({ status }) => status === 'in_progress')
}

/** Whether somebody works on it now: a clock that runs on after the end says nothing. */
function isAtWork({ turns, running_turn, latest_turn }: ConversationSnapshot): boolean {
  const turn = turns[running_turn ?? latest_turn ?? '']
  return turn !== undefined && !isFinished(turn) && !turn.stop_requested
}

/** What the latest turn left open, once it is over. */
function leftBehind(state: ConversationSnapshot): { readonly turn: string; readonly count: number } | undefined {
  const turn = state.running_turn === null && state.latest_turn !== null ? state.turns[state.latest_turn] : undefined
  if (!turn || !isFinished(turn)) return undefined
  const count = openTasks(state, turn.id).length
  return count === 0 ? undefined : { turn: turn.id, count }
}
