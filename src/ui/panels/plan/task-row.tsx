import { ArrowDown, ArrowUp, Ban, Ellipsis, EyeOff, GripVertical, ListChecks, Pencil, RotateCcw } from 'lucide-react'
import { memo, type ReactElement, type ReactNode, type RefObject, useId, useState } from 'react'
import { isDisputed } from '../../../core/proof/dispute.ts'
import type { PersonsFields } from '../../../core/views/wire.ts'
import { isOpen, type Task } from '../../../core/model/task.ts'
import { IconButton } from '../parts/controls.tsx'
import { LineInput } from '../parts/line-input.tsx'
import { plainLine, plainMarkdown } from '../parts/text.ts'
import { ProofIcon, StatusIcon } from '../parts/icons.tsx'
import { edgeClass, useReorder } from '../parts/reorder.ts'
import type { RowMark } from './row-mark.ts'
import { useStrings } from '../texts/strings.ts'
import { useFocusOn } from '../parts/hooks.ts'
import { TaskChecks, TaskDispute } from './task-checks.tsx'

interface TaskRowProps {
  readonly task: Task
  readonly index: number
  readonly count: number
  /** A person changed it and the agent has not seen that yet. */
  readonly isUnseen: boolean
  readonly isRunning: boolean
  readonly mark: RowMark['kind'] | undefined
  readonly markText: string | undefined
  readonly canCheck: boolean
  readonly renderOutcome: ((outcome: string) => ReactNode) | undefined
  readonly onChange: (id: string, fields: PersonsFields) => Promise<boolean>
  readonly onMove: (id: string, to: number) => void
}

/**
 * A task and its actions. Alt with an arrow key moves it, as does dragging its handle. Memoized: in a long list a
 * change seldom affects more than one row.
 */
export const TaskRow = memo(function TaskRow(props: TaskRowProps): ReactElement {
  const { task, index, count, isUnseen, isRunning, mark, markText, canCheck, renderOutcome, onMove } = props
  const strings = useStrings()
  const onChange = (fields: PersonsFields): Promise<boolean> => props.onChange(task.id, fields)
  const [isExpanded, setExpanded] = useState(false)
  const [showsChecks, setShowsChecks] = useState(false)
  const checksId = useId()
  const { item, handle, edge, onKeyDown } = useReorder('plan', task.id, index, ({ key }, to) => onMove(key, to))
  const { draft, setDraft, rename, focusOnEdit } = useTitleEdit(task, item, onChange)
  const isFinished = task.status === 'completed' || task.status === 'cancelled'
  const dispute = isDisputed(task) ? task.dispute : undefined
  const toggle = isFinished ? strings.reopen : strings.markDone
  const about = strings.timeline.changed('', task.title)
  const buttons = (
    <>
      {task.status === 'blocked' && !dispute && (
        <IconButton
          label={strings.reopen}
          about={about}
          icon={RotateCcw}
          onAct={() => {
            void onChange({ status: 'pending' })
            // The change removes this button, so the focus has to move.
            focusOnEdit()
          }}
        />
      )}
      {canCheck && !mark && (
        <IconButton
          label={strings.fields.checks}
          about={about}
          icon={ListChecks}
          isExpanded={showsChecks}
          onAct={() => setShowsChecks(!showsChecks)}
        />
      )}
      <IconButton
        className="rs-edit"
        label={strings.rename}
        about={about}
        icon={Pencil}
        onAct={() => setDraft(task.title)}
      />
      <IconButton
        label={strings.moveUp}
        about={about}
        icon={ArrowUp}
        isDisabled={index === 0}
        onAct={() => onMove(task.id, index - 1)}
      />
      <IconButton
        label={strings.moveDown}
        about={about}
        icon={ArrowDown}
        isDisabled={index === count - 1}
        onAct={() => onMove(task.id, index + 1)}
      />
      <IconButton
        label={strings.cancelTask}
        about={about}
        icon={Ban}
        isDisabled={!isOpen(task) && task.status !== 'blocked'}
        onAct={() => void onChange({ status: 'cancelled' })}
      />
    </>
  )
  return (
    <li
      ref={item}
      data-task={task.id}
      className={`rs-task rs-task-${task.status}${isExpanded ? ' rs-unfolded' : ''}${edgeClass(edge)}`}
      onKeyDown={onKeyDown}
    >
      <span ref={handle} className="rs-handle" title={strings.drag} aria-hidden="true">
        <GripVertical size={14} />
      </span>
      <button
        type="button"
        className="rs-icon rs-tick"
        aria-label={`${toggle}${about}`}
        title={toggle}
        onClick={() => void onChange({ status: isFinished ? 'pending' : 'completed' })}
      >
        <StatusIcon status={task.status} isRunning={isRunning} />
      </button>
      {draft === undefined ? (
        <div className="rs-task-text">
          <span className="rs-sr">{strings.timeline.changed(strings.status[task.status], '')}</span>
          <div className="rs-task-line" dir="auto">
            <span className="rs-task-title">{task.title}</span>
            {task.status === 'blocked' && (
              // The status icon already tells screen readers of a blocked task.
              <bdi className="rs-badge rs-mark-blocked" aria-hidden={!dispute}>
                {dispute ? strings.dispute.badge : strings.status.blocked}
              </bdi>
            )}
            {mark && (
              <button
                type="button"
                className={`rs-badge rs-mark rs-mark-${mark}`}
                aria-label={`${markText}${about}`}
                aria-expanded={showsChecks}
                aria-controls={checksId}
                onClick={() => setShowsChecks(!showsChecks)}
              >
                <ProofIcon of={mark} />
                <bdi>{markText}</bdi>
              </button>
            )}
            {isUnseen && (
              <bdi className="rs-badge rs-badge-unseen" title={strings.unseenByAgent}>
                <EyeOff size={12} aria-hidden="true" />
                {strings.unseenByAgentShort}
              </bdi>
            )}
            {/* At the end of the text, so that it covers none of it. */}
            <span className="rs-folded">{buttons}</span>
          </div>
          {task.outcome !== undefined && (
            <Outcome
              text={task.outcome}
              isFolded={mark !== undefined && !showsChecks && !dispute}
              render={renderOutcome}
            />
          )}
        </div>
      ) : (
        <LineInput label={strings.fields.title} text={draft} onText={setDraft} onDone={rename} />
      )}
      <IconButton
        className="rs-fold"
        label={strings.moreActions}
        about={about}
        icon={Ellipsis}
        isExpanded={isExpanded}
        onAct={() => setExpanded(!isExpanded)}
      />
      {dispute && (
        <TaskDispute
          task={task}
          dispute={dispute}
          onChecks={canCheck ? () => setShowsChecks(true) : undefined}
          onChange={onChange}
          onAnswered={focusOnEdit}
        />
      )}
      {showsChecks && <TaskChecks id={checksId} task={task} onChange={onChange} />}
    </li>
  )
})

interface OutcomeProps {
  readonly text: string
  readonly isFolded: boolean
  readonly render: TaskRowProps['renderOutcome']
}

function Outcome({ text, isFolded, render }: OutcomeProps): ReactElement {
  if (!isFolded && render) return <div className="rs-outcome">{render(text)}</div>
  return (
    <div className={`rs-outcome ${isFolded ? 'rs-cut' : 'rs-lines'}`} dir="auto">
      {isFolded ? plainLine(text) : plainMarkdown(text)}
    </div>
  )
}

function useTitleEdit(
  { title }: Task,
  row: RefObject<HTMLElement | null>,
  onChange: (fields: PersonsFields) => Promise<boolean>,
) {
  const [draft, setDraft] = useState<string>()
  const focusOn = useFocusOn(row)
  const focusOnEdit = (): void => focusOn('.rs-edit')
  const rename = async (typed: string | undefined, isByKey: boolean): Promise<void> => {
    setDraft(undefined)
    if (isByKey) focusOnEdit()
    const next = typed?.trim() ?? ''
    if (next === '' || next === title) return
    // Refused: restores what the person typed.
    if (!(await onChange({ title: next }))) setDraft(typed)
  }
  return { draft, setDraft, rename, focusOnEdit }
}
