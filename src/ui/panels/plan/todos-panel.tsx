import { ChevronDown, ChevronUp, Plus, TriangleAlert } from 'lucide-react'
import { type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button, classNames } from '../parts/controls.tsx'
import type { Client } from '../../../client/client.ts'
import { errorText } from '../texts/error-text.ts'
import { formatDuration } from '../parts/text.ts'
import { UndoButtons } from '../parts/menu.tsx'
import { notDoneWords, type TaskCounts, type UnfinishedTurn } from './progress.ts'
import { resultText } from './row-mark.ts'
import { type ConversationView, useRunsheet } from '../parts/provider.tsx'
import { StatusIcon } from '../parts/icons.tsx'
import { useStrings } from '../texts/strings.ts'
import { type TasksHandle, useTasks } from './use-tasks.ts'
import { useUndoKey } from '../parts/hooks.ts'
import { PlanList } from './plan-list.tsx'

/** The props of `TodosPanel`. */
export interface TodosPanelProps {
  /** Required outside of a `RunsheetProvider`. */
  readonly client?: Client
  /** Required outside of a `RunsheetProvider`. */
  readonly view?: ConversationView
  /** The handle of `useTasks`. Pass it if the page also uses it. */
  readonly handle?: TasksHandle
  readonly className?: string
  /** Always shows the list, for a panel with a place of its own. */
  readonly isAlwaysOpen?: boolean
  /** The thread already shows how the plan ended (`TurnResult`), so the panel does not repeat it. */
  readonly isEndTold?: boolean
  /** Continues a turn that ended with open tasks. Without it there is no such button. */
  readonly onContinue?: (turnId: string) => void
  /**
   * Renders the outcome of an open row; by default as plain text without Markdown, as in a closed row. Pass a stable
   * function, so that long lists stay fast.
   */
  readonly renderOutcome?: (outcome: string) => ReactNode
  /** Receives the errors of a person's changes; by default the panel shows them. */
  readonly onError?: (error: Error) => void
}

/** The plan: a summary line that opens the list, which a person can change at any time. */
export function TodosPanel(props: TodosPanelProps): ReactElement | null {
  return props.handle ? <Panel {...props} plan={props.handle} /> : <OwnPanel {...props} />
}

function OwnPanel(props: TodosPanelProps): ReactElement | null {
  return <Panel {...props} plan={useTasks(useRunsheet(props))} />
}

function Panel(props: TodosPanelProps & { readonly plan: TasksHandle }): ReactElement | null {
  const { className, plan, isAlwaysOpen = false, isEndTold = false, renderOutcome, onContinue, onError } = props
  const strings = useStrings()
  const source = useRunsheet(props)
  const [isOpen, setOpen] = useState(false)
  const isExpanded = isOpen || isAlwaysOpen
  const [addedId, setAddedId] = useState<string>()
  const listId = useId()
  const panel = useRef<HTMLElement>(null)
  useUndoKey(panel, plan)
  const { error, counts, unfinished } = plan
  useEffect(() => {
    if (error !== undefined) onError?.(error as Error)
    // Reports each error once, even if the caller passes a new function on every render.
  }, [error])
  const isDisputed = counts.disputed > 0
  // A dispute calls the person, as a review does.
  useEffect(() => {
    if (isDisputed) setOpen(true)
  }, [isDisputed])
  if (plan.tasks.length === 0) return null
  const isTold = isEndTold && plan.isEnded
  const summary = <Summary plan={plan} isTold={isTold} />
  return (
    <section ref={panel} className={classNames('rs-panel rs-todos', className)} aria-label={strings.plan}>
      <div className="rs-todos-head">
        {isAlwaysOpen ? (
          <div className="rs-summary">{summary}</div>
        ) : (
          <button
            type="button"
            className="rs-summary"
            aria-expanded={isExpanded}
            aria-controls={listId}
            onClick={() => setOpen(!isExpanded)}
          >
            <span className="rs-sr">
              {strings.timeline.changed(strings.plan, isExpanded ? strings.hidePlan : strings.showPlan)}{' '}
            </span>
            {summary}
            {isExpanded ? <ChevronDown size={16} aria-hidden="true" /> : <ChevronUp size={16} aria-hidden="true" />}
          </button>
        )}
        {(plan.canUndo || plan.canRedo) && (
          <span className="rs-undo">
            <UndoButtons
              canUndo={plan.canUndo}
              canRedo={plan.canRedo}
              onUndo={() => void plan.undo()}
              onRedo={() => void plan.redo()}
            />
          </span>
        )}
        {/* After an error the thread offers Retry. */}
        {isTold && unfinished && !unfinished.hasFailed && <Continue turn={unfinished} onContinue={onContinue} />}
      </div>
      <Progress counts={counts} title={plan.current?.title} tally={resultText(plan, strings)} />
      {!isTold && unfinished && <Unfinished turn={unfinished} onContinue={onContinue} />}
      {error !== undefined && !onError && (
        <p className="rs-problem" role="alert">
          {errorText(strings, error)}
        </p>
      )}
      <div id={listId} hidden={!isExpanded}>
        {isExpanded && (
          <PlanList
            client={source.client}
            view={source.view}
            plan={plan}
            addedId={addedId}
            renderOutcome={renderOutcome}
          />
        )}
        <AddTask
          onAdd={async title => {
            const task = await plan.add(title)
            if (task) setAddedId(task.id)
            return task !== undefined
          }}
        />
      </div>
    </section>
  )
}

interface SummaryProps {
  readonly plan: TasksHandle
  /** The thread shows the result. */
  readonly isTold: boolean
}

function Summary({ plan, isTold }: SummaryProps): ReactElement {
  const strings = useStrings()
  const { current, counts, elapsedMs } = plan
  const elapsed = elapsedMs === undefined ? undefined : formatDuration(elapsedMs)
  const result = resultText(plan, strings)
  // Blocked tasks are unfinished work, so the summary mentions them as well.
  const stuck = counts.blocked + counts.disputed
  const isShort = isTold && stuck === 0
  return (
    <>
      {result === undefined ? (
        current && <StatusIcon status={current.status} isRunning={elapsed !== undefined} />
      ) : (
        <StatusIcon status={stuck > 0 ? 'blocked' : counts.done > 0 ? 'completed' : 'cancelled'} />
      )}
      <span className="rs-plan-name" aria-hidden="true">
        {strings.plan}
      </span>
      <span
        className={classNames('rs-current', result === undefined ? undefined : isShort ? 'rs-told' : 'rs-tally')}
        dir="auto"
      >
        {current ? current.title : result !== undefined && isShort ? strings.reviewing.steps(counts.total) : result}
      </span>
      <span className="rs-numbers">
        {result === undefined && (
          <span className="rs-counts">
            {strings.progress(counts.done, counts.total)} · {strings.remaining(counts.remaining)}
            {counts.disputed > 0 && <span className="rs-blocked"> · {strings.disputed(counts.disputed)}</span>}
            {counts.blocked > 0 && <span className="rs-blocked"> · {strings.blocked(counts.blocked)}</span>}
            {counts.cancelled > 0 && ` · ${strings.cancelled(counts.cancelled)}`}
          </span>
        )}
        {elapsed !== undefined && (
          // If the line wraps, the dot ends it instead of starting the next one.
          <span className="rs-elapsed" title={strings.elapsed(elapsed)}>
            {elapsed}
          </span>
        )}
      </span>
    </>
  )
}

interface ProgressProps {
  readonly counts: TaskCounts
  readonly title: string | undefined
  readonly tally: string | undefined
}

function Progress({ counts, title, tally }: ProgressProps): ReactElement {
  const strings = useStrings()
  const { done, total, remaining, blocked, disputed } = counts
  const counted = [strings.progress(done, total), strings.remaining(remaining)]
  const words = tally ?? strings.timeline.list([...counted, ...notDoneWords(counts, strings)])
  const width = (count: number): string => `${total === 0 ? 0 : (count / total) * 100}%`
  return (
    <>
      <div
        className="rs-progress"
        role="progressbar"
        aria-label={strings.plan}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
        aria-valuetext={counted.join(' · ')}
      >
        <div style={{ width: width(done) }} />
        <div className="rs-progress-blocked" style={{ width: width(blocked + disputed) }} />
      </div>
      <p className="rs-sr" role="status">
        {title === undefined ? words : strings.timeline.changed(title, words)}
      </p>
    </>
  )
}

interface UnfinishedProps {
  readonly turn: UnfinishedTurn
  readonly onContinue: TodosPanelProps['onContinue'] | undefined
}

function Unfinished({ turn, onContinue }: UnfinishedProps): ReactElement {
  const strings = useStrings()
  return (
    <div className="rs-warning" role="status">
      <TriangleAlert size={16} aria-hidden="true" />
      <span>{turn.isLimited ? strings.stepLimitReached(turn.count) : strings.unfinished(turn.count)}</span>
      <Continue turn={turn} onContinue={onContinue} />
    </div>
  )
}

function Continue({ turn, onContinue }: UnfinishedProps): ReactElement | null {
  const strings = useStrings()
  if (!onContinue) return null
  return <Button onClick={() => onContinue(turn.turnId)}>{strings.continueTurn}</Button>
}

/** `onAdd` resolves to whether the task was added; if not, the title is restored. */
function AddTask({ onAdd }: { readonly onAdd: (title: string) => Promise<boolean> }): ReactElement {
  const strings = useStrings()
  const [title, setTitle] = useState('')
  const add = async (): Promise<void> => {
    if (title.trim() === '') return
    setTitle('')
    if (!(await onAdd(title))) setTitle(typed => (typed === '' ? title : typed))
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
        aria-label={strings.newTask}
        placeholder={strings.newTask}
        dir="auto"
        value={title}
        onChange={event => setTitle(event.target.value)}
      />
      <Button type="submit" disabled={title.trim() === ''}>
        <Plus size={16} aria-hidden="true" /> {strings.addTask}
      </Button>
    </form>
  )
}
