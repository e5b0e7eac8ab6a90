import {
  type ReactElement,
  type ReactNode,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Client } from '../../../client/client.ts'
import { PlanContext, usePlan } from './check-item.tsx'
import type { ConversationView } from '../parts/provider.tsx'
import type { TasksHandle } from './use-tasks.ts'
import type { PersonsFields } from '../../../core/views/wire.ts'
import type { Task } from '../../../core/model/task.ts'
import { mostRelevant } from './progress.ts'
import { rowMark } from './row-mark.ts'
import { useStrings } from '../texts/strings.ts'
import { TaskRow } from './task-row.tsx'
import { useDropAtEnd } from '../parts/reorder.ts'
import { checkLabel, runText } from '../parts/text.ts'
import { FileChanges } from './task-checks.tsx'
import { ProofIcon } from '../parts/icons.tsx'

interface PlanListProps {
  readonly client: Client
  readonly view: ConversationView
  readonly plan: TasksHandle
  readonly addedId: string | undefined
  readonly renderOutcome: ((outcome: string) => ReactNode) | undefined
}

export function PlanList({ client, view, plan, addedId, renderOutcome }: PlanListProps): ReactElement {
  return (
    <PlanContext value={{ client, view, plan }}>
      <TaskList plan={plan} addedId={addedId} renderOutcome={renderOutcome} />
      <PlanChecks />
    </PlanContext>
  )
}

/** Rows shown before "more" is pressed. */
const MAX_SHOWN = 50

interface TaskListProps {
  readonly plan: TasksHandle
  /** The task that this window added last; it is scrolled into view. */
  readonly addedId: string | undefined
  readonly renderOutcome: ((outcome: string) => ReactNode) | undefined
}

function TaskList({ plan, addedId, renderOutcome }: TaskListProps): ReactElement {
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

function PlanChecks(): ReactElement | null {
  const strings = useStrings()
  const { proof } = usePlan().plan
  if (proof.ownChecks.length === 0) return null
  return (
    <div className="rs-proof rs-plan-checks">
      <p className="rs-note">{strings.checks.atTheEnd}</p>
      <ul className="rs-checks">
        {proof.ownChecks.map(({ check, state, last, output }) => (
          <li key={check.id} className="rs-check-item">
            <span className="rs-check-label rs-code">{checkLabel(check, strings)}</span>
            <span className="rs-check-state">
              <ProofIcon of={state} />
              {last && state === last.result ? runText(last, strings) : strings.checks.state[state]}
            </span>
            {output !== undefined && output !== '' && (
              <pre
                className="rs-output rs-code"
                tabIndex={0}
                role="group"
                aria-label={strings.timeline.changed(strings.checks.output, checkLabel(check, strings))}
              >
                {output}
              </pre>
            )}
          </li>
        ))}
      </ul>
      <FileChanges checks={proof.ownChecks} onAccept={paths => proof.acceptChanges(paths)} />
    </div>
  )
}
