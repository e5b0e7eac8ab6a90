import { ArrowDown, ArrowUp, Ban, Ellipsis, EyeOff, GripVertical, Pencil, RotateCcw } from 'lucide-react'
import { memo, type ReactElement, useEffect, useRef, useState } from 'react'
import type { PersonsFields } from '../client/client.ts'
import { isOpen, type Task } from '../domain/task.ts'
import { IconButton } from './icon-button.tsx'
import { isComposing } from './is-composing.ts'
import { edgeClass } from './reorder.ts'
import { StatusIcon } from './status-icon.tsx'
import { useStrings } from './strings.ts'
import { useFocusOn } from './use-focus-on.ts'
import { useReorder } from './use-reorder.ts'

interface TaskRowProps {
  readonly task: Task
  readonly index: number
  readonly count: number
  /** A person changed it and the agent has not seen that yet. */
  readonly isUnseen: boolean
  /** Resolves to whether the server accepted the change. */
  readonly onChange: (id: string, fields: PersonsFields) => Promise<boolean>
  readonly onMove: (id: string, to: number) => void
}

/**
 * One task and what a person can do with it. Alt and an arrow key move it, as does dragging it by its handle. Memoized:
 * in a long list seldom more than one row changes.
 */
export const TaskRow = memo(function TaskRow(props: TaskRowProps): ReactElement {
  const { task, index, count, isUnseen, onMove } = props
  const strings = useStrings()
  const onChange = (fields: PersonsFields): Promise<boolean> => props.onChange(task.id, fields)
  const { draft, setDraft, rename, actions, focusOnEdit } = useTitleEdit(task, onChange)
  const [isExpanded, setExpanded] = useState(false)
  const { item, handle, edge, onKeyDown } = useReorder('plan', task.id, index, ({ key }, to) => onMove(key, to))
  const isFinished = task.status === 'completed' || task.status === 'cancelled'
  const toggle = isFinished ? strings.reopen : strings.markDone
  const about = `: ${task.title}`
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
        <StatusIcon status={task.status} />
      </button>
      {draft === undefined ? (
        <TaskText task={task} isUnseen={isUnseen} />
      ) : (
        <TitleInput text={draft} onText={setDraft} onDone={rename} />
      )}
      <div className="rs-actions" ref={actions}>
        <IconButton
          className="rs-fold"
          label={strings.moreActions}
          about={about}
          icon={Ellipsis}
          isExpanded={isExpanded}
          onAct={() => setExpanded(!isExpanded)}
        />
        <span className="rs-folded">
          {task.status === 'blocked' && (
            <IconButton
              label={strings.reopen}
              about={about}
              icon={RotateCcw}
              onAct={() => {
                void onChange({ status: 'pending' })
                // This button disappears with the change.
                focusOnEdit()
              }}
            />
          )}
          <IconButton
            className="rs-edit"
            label={strings.edit}
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
        </span>
      </div>
    </li>
  )
})

function TaskText({ task, isUnseen }: { readonly task: Task; readonly isUnseen: boolean }): ReactElement {
  const strings = useStrings()
  return (
    <div className="rs-task-text">
      <span className="rs-sr">{strings.status[task.status]}: </span>
      <span className="rs-task-title">{task.title}</span>
      {task.status === 'completed' && task.judged_by === null && (
        <span className="rs-badge">{strings.reportedDone}</span>
      )}
      {isUnseen && (
        <span className="rs-badge rs-badge-unseen" title={strings.unseenByAgent}>
          <EyeOff size={12} aria-hidden="true" />
          {strings.unseenByAgentShort}
        </span>
      )}
      {task.outcome !== undefined && <span className="rs-outcome">{task.outcome}</span>}
    </div>
  )
}

/** The title while it is edited. */
function useTitleEdit({ title }: Task, onChange: (fields: PersonsFields) => Promise<boolean>) {
  const [draft, setDraft] = useState<string>()
  const actions = useRef<HTMLDivElement>(null)
  const focusOn = useFocusOn(actions)
  const focusOnEdit = (): void => focusOn('.rs-edit')
  const rename = async (typed: string | undefined, isByKey: boolean): Promise<void> => {
    setDraft(undefined)
    if (isByKey) focusOnEdit()
    const next = typed?.trim() ?? ''
    if (next === '' || next === title) return
    // Not accepted: the person gets back what they typed.
    if (!(await onChange({ title: next }))) setDraft(typed)
  }
  return { draft, setDraft, rename, actions, focusOnEdit }
}

interface TitleInputProps {
  readonly text: string
  readonly onText: (text: string) => void
  /** With the new title, or undefined to leave it as it was. */
  readonly onDone: (text: string | undefined, isByKey: boolean) => Promise<void>
}

/** Enter and leaving the input save the title; Escape does not. */
function TitleInput({ text, onText, onDone }: TitleInputProps): ReactElement {
  const strings = useStrings()
  const input = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  useEffect(() => input.current?.select(), [])
  const done = (typed: string | undefined, isByKey: boolean): void => {
    if (isDone.current) return
    isDone.current = true
    void onDone(typed, isByKey)
  }
  return (
    <form
      className="rs-title-form"
      onSubmit={event => {
        event.preventDefault()
        done(text, true)
      }}
    >
      <input
        ref={input}
        className="rs-input"
        aria-label={strings.title}
        value={text}
        onChange={event => onText(event.target.value)}
        onKeyDown={event => {
          if (event.key !== 'Escape' || isComposing(event)) return
          event.stopPropagation()
          done(undefined, true)
        }}
        onBlur={() => done(text, false)}
      />
    </form>
  )
}
