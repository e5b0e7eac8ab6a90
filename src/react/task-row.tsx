import { ArrowDown, ArrowUp, Ban, Check, EyeOff, Pencil, RotateCcw } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { PersonsFields } from '../client/client.ts'
import { isOpen, type Task } from '../domain/task.ts'
import { StatusIcon } from './status-icon.tsx'
import { useWords } from './words.ts'

interface TaskRowProps {
  readonly task: Task
  /** The agent has not been told of a person's change. */
  readonly isNews: boolean
  readonly before?: Task | undefined
  readonly after?: Task | undefined
  readonly onChange: (fields: PersonsFields) => void
}

/** One task, with what a person can do about it. */
export function TaskRow({ task, isNews, before, after, onChange }: TaskRowProps): ReactElement {
  const words = useWords()
  const [isEditing, setEditing] = useState(false)
  const isReported = task.status === 'completed' && task.judged_by === null
  return (
    <li className={`rs-task rs-task-${task.status}`}>
      <StatusIcon status={task.status} />
      {isEditing ? (
        <Reword
          title={task.title}
          onDone={title => {
            setEditing(false)
            if (title !== undefined && title !== task.title) onChange({ title })
          }}
        />
      ) : (
        <div className="rs-task-text">
          <span className="rs-task-title">{task.title}</span>
          {isReported && <span className="rs-badge">{words.reportedDone}</span>}
          {isNews && (
            <span className="rs-badge rs-badge-news" title={words.notTold}>
              <EyeOff size={12} aria-hidden="true" />
              <span className="rs-sr">{words.notTold}</span>
            </span>
          )}
          {task.outcome !== undefined && <span className="rs-outcome">{task.outcome}</span>}
        </div>
      )}
      <div className="rs-actions">
        {isOpen(task) || task.status === 'blocked' ? (
          <Act label={words.markDone} about={task} icon={Check} onAct={() => onChange({ status: 'completed' })} />
        ) : (
          <Act label={words.reopen} about={task} icon={RotateCcw} onAct={() => onChange({ status: 'pending' })} />
        )}
        <Act label={words.edit} about={task} icon={Pencil} onAct={() => setEditing(true)} />
        {before && (
          <Act label={words.moveUp} about={task} icon={ArrowUp} onAct={() => onChange({ position: before.position })} />
        )}
        {after && (
          <Act
            label={words.moveDown}
            about={task}
            icon={ArrowDown}
            onAct={() => onChange({ position: after.position })}
          />
        )}
        {isOpen(task) && (
          <Act label={words.cancelTask} about={task} icon={Ban} onAct={() => onChange({ status: 'cancelled' })} />
        )}
      </div>
    </li>
  )
}

interface ActProps {
  readonly label: string
  readonly about: Task
  readonly icon: typeof Check
  readonly onAct: () => void
}

function Act({ label, about, icon: Icon, onAct }: ActProps): ReactElement {
  return (
    <button type="button" className="rs-icon" aria-label={`${label}: ${about.title}`} title={label} onClick={onAct}>
      <Icon size={16} aria-hidden="true" />
    </button>
  )
}

/** A title under a person's hands: Enter keeps it, Escape does not. */
function Reword({
  title,
  onDone,
}: {
  readonly title: string
  readonly onDone: (title?: string) => void
}): ReactElement {
  const words = useWords()
  const [text, setText] = useState(title)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.select(), [])
  return (
    <form
      className="rs-reword"
      onSubmit={event => {
        event.preventDefault()
        onDone(text.trim() === '' ? undefined : text)
      }}
    >
      <input
        ref={input}
        className="rs-input"
        aria-label={words.title}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          onDone()
        }}
        onBlur={() => onDone(text.trim() === '' ? undefined : text)}
      />
    </form>
  )
}
