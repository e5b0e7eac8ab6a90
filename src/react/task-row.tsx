import { ArrowDown, ArrowUp, Ban, Ellipsis, EyeOff, GripVertical, Pencil, RotateCcw } from 'lucide-react'
import { memo, type ReactElement, useEffect, useRef, useState } from 'react'
import type { PersonsFields } from '../client/client.ts'
import { isOpen, type Task } from '../domain/task.ts'
import { IconButton } from './icon-button.tsx'
import { isComposing } from './is-composing.ts'
import { StatusIcon } from './status-icon.tsx'
import { useFocusOn } from './use-focus-on.ts'
import { edgeClass, useReorder } from './use-reorder.ts'
import { useWords } from './words.ts'

interface TaskRowProps {
  readonly task: Task
  readonly place: number
  readonly count: number
  /** The agent has not been told of a person's change. */
  readonly isNews: boolean
  /** Whether it was taken. */
  readonly onChange: (id: string, fields: PersonsFields) => Promise<boolean>
  readonly onMove: (id: string, to: number) => void
}

/**
 * One task, with what a person can do about it. Alt and an arrow moves it, as does dragging it by its handle. Drawn anew
 * only where it changed: of a long list that is seldom more than one.
 */
export const TaskRow = memo(function TaskRow(props: TaskRowProps): ReactElement {
  const { task, place, count, isNews, onMove } = props
  const words = useWords()
  const onChange = (fields: PersonsFields): Promise<boolean> => props.onChange(task.id, fields)
  const { text, setText, shown, reword, actions, focusOnEdit } = useReword(task, onChange)
  const [isUnfolded, setUnfolded] = useState(false)
  const { item, handle, edge, onKeyDown } = useReorder('plan', task.id, place, ({ key }, to) => onMove(key, to))
  const isSettled = task.status === 'completed' || task.status === 'cancelled'
  const about = `: ${shown}`
  return (
    <li
      ref={item}
      data-task={task.id}
      className={`rs-task rs-task-${task.status}${isUnfolded ? ' rs-unfolded' : ''}${edgeClass(edge)}`}
      onKeyDown={onKeyDown}
    >
      <span ref={handle} className="rs-handle" title={words.drag} aria-hidden="true">
        <GripVertical size={14} />
      </span>
      <button
        type="button"
        className="rs-icon rs-tick"
        aria-label={`${isSettled ? words.reopen : words.markDone}${about}`}
        title={isSettled ? words.reopen : words.markDone}
        onClick={() => void onChange({ status: isSettled ? 'pending' : 'completed' })}
      >
        <StatusIcon status={task.status} />
      </button>
      {text === undefined ? (
        <div className="rs-task-text">
          <span className="rs-sr">{words.status[task.status]}: </span>
          <span className="rs-task-title">{shown}</span>
          {task.status === 'completed' && task.judged_by === null && (
            <span className="rs-badge">{words.reportedDone}</span>
          )}
          {isNews && (
            <span className="rs-badge rs-badge-news" title={words.notTold}>
              <EyeOff size={12} aria-hidden="true" />
              {words.notToldBriefly}
            </span>
          )}
          {task.outcome !== undefined && <span className="rs-outcome">{task.outcome}</span>}
        </div>
      ) : (
        <Reword text={text} onText={setText} onDone={reword} />
      )}
      <div className="rs-actions" ref={actions}>
        <IconButton
          className="rs-fold"
          label={words.moreActions}
          about={about}
          icon={Ellipsis}
          isExpanded={isUnfolded}
          onAct={() => setUnfolded(!isUnfolded)}
        />
        <span className="rs-folded">
          {task.status === 'blocked' && (
            <IconButton
              label={words.reopen}
              about={about}
              icon={RotateCcw}
              onAct={() => {
                void onChange({ status: 'pending' })
                // This button goes with what it undoes.
                focusOnEdit()
              }}
            />
          )}
          <IconButton
            className="rs-edit"
            label={words.edit}
            about={about}
            icon={Pencil}
            onAct={() => setText(task.title)}
          />
          <IconButton
            label={words.moveUp}
            about={about}
            icon={ArrowUp}
            isIdle={place === 0}
            onAct={() => onMove(task.id, place - 1)}
          />
          <IconButton
            label={words.moveDown}
            about={about}
            icon={ArrowDown}
            isIdle={place === count - 1}
            onAct={() => onMove(task.id, place + 1)}
          />
          <IconButton
            label={words.cancelTask}
            about={about}
            icon={Ban}
            isIdle={!isOpen(task) && task.status !== 'blocked'}
            onAct={() => void onChange({ status: 'cancelled' })}
          />
        </span>
      </div>
    </li>
  )
})

/** A title under a person's hands, and what is shown until the log says the same. */
function useReword({ title, version }: Task, onChange: (fields: PersonsFields) => Promise<boolean>) {
  const [text, setText] = useState<string>()
  const [sent, setSent] = useState<string>()
  const actions = useRef<HTMLDivElement>(null)
  const focusOn = useFocusOn(actions)
  useEffect(() => setSent(undefined), [version])
  const reword = async (typed: string | undefined, isByKey: boolean): Promise<void> => {
    setText(undefined)
    if (isByKey) focusOn('.rs-edit')
    const next = typed?.trim() ?? ''
    if (next === '' || next === title) return
    setSent(next)
    if (await onChange({ title: next })) return
    // Not taken: what was typed is still there.
    setSent(undefined)
    setText(typed)
  }
  return { text, setText, shown: sent ?? title, reword, actions, focusOnEdit: () => focusOn('.rs-edit') }
}

interface RewordProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly onDone: (text: string | undefined, isByKey: boolean) => Promise<void>
}

/** Enter keeps it, and so does going elsewhere; Escape does not. */
function Reword({ text, onText, onDone }: RewordProps): ReactElement {
  const words = useWords()
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
      className="rs-reword"
      onSubmit={event => {
        event.preventDefault()
        done(text, true)
      }}
    >
      <input
        ref={input}
        className="rs-input"
        aria-label={words.title}
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
