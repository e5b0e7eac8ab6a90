import {
  type ReactElement,
  type ReactNode,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { PersonsFields } from '../../../core/views/wire.ts'
import type { Task } from '../../../core/model/task.ts'
import { mostRelevant } from './plan-progress.ts'
import { rowMark } from '../review/row-mark.ts'
import { useStrings } from '../texts/strings.ts'
import { TaskRow } from './task-row.tsx'
import { useDropAtEnd } from '../draft/use-drop-at-end.ts'
import type { TasksHandle } from './use-tasks.ts'

/** Rows shown before "more" is pressed. */
const MAX_SHOWN = 50

interface TaskListProps {
  readonly plan: TasksHandle
  /** The task that this window added last; it is scrolled into view. */
  readonly addedId: string | undefined
  readonly renderOutcome: ((outcome: string) => ReactNode) | undefined
}

export function TaskList({ plan, addedId, renderOutcome }: TaskListProps): ReactElement {
  const strings = useStrings()
  const { tasks, current, elapsedMs, isUnseen, proof, change } = plan
  const [showsAll, setShowsAll] = useState(false)
  const [announcement, setAnnouncement] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const shown = showsAll ? tasks : mostRelevant(tasks, MAX_SHOWN)
  useScrollToCurrent(list)
  useScrollToAdded(list, addedId, tasks, shown, () => setShowsAll(true))
  const move = async (id: string, to: number): Promise<void> => {
    const index = await plan.move(id, to, shown)
    if (index !== undefined) setAnnouncement(strings.movedTo(index + 1, shown.length))
  }
  useDropAtEnd('plan', list, ({ key }, to) => void move(key, to))
  // Stable callbacks, so that unchanged rows do not render again.
  const actions = useRef({ change, move })
  actions.current = { change, move }
  const onChange = useCallback((id: string, fields: PersonsFields) => actions.current.change(id, fields), [])
  const onMove = useCallback((id: string, to: number) => void actions.current.move(id, to), [])
  return (
    <>
      <ol className="rs-list" ref={list}>
        {shown.map((task, index) => {
          const mark = rowMark(task, proof, strings)
          return (
            <TaskRow
              key={task.id}
              task={task}
              index={index}
              count={shown.length}
              isUnseen={isUnseen(task)}
              isRunning={elapsedMs !== undefined && task.id === current?.id}
              mark={mark?.kind}
              markText={mark?.text}
              canCheck={proof.hasWorkspace(task)}
              renderOutcome={renderOutcome}
              onChange={onChange}
              onMove={onMove}
            />
          )
        })}
      </ol>
      <p className="rs-sr" role="status">
        {announcement}
      </p>
      {shown.length < tasks.length && (
        <button type="button" className="rs-more" onClick={() => setShowsAll(true)}>
          {strings.more(tasks.length - shown.length)}
        </button>
      )}
    </>
  )
}

function useScrollToCurrent(list: RefObject<HTMLOListElement | null>): void {
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>('.rs-task-in_progress')
    if (list.current && row) list.current.scrollTop = row.offsetTop - list.current.clientHeight / 2
  }, [list])
}

function useScrollToAdded(
  list: RefObject<HTMLOListElement | null>,
  addedId: string | undefined,
  tasks: readonly Task[],
  shown: readonly Task[],
  onHidden: () => void,
): void {
  const isIn = (some: readonly Task[]): boolean => addedId !== undefined && some.some(({ id }) => id === addedId)
  const isThere = isIn(tasks)
  const isShown = isIn(shown)
  useLayoutEffect(() => {
    if (isThere && !isShown) onHidden()
    if (isShown) list.current?.querySelector(`[data-task="${addedId}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [list, addedId, isThere, isShown])
}
