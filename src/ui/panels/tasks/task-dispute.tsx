import { type ReactElement, useState } from 'react'
import type { Dispute } from '../../../core/proof/dispute.ts'
import type { Task } from '../../../core/model/task.ts'
import type { PersonsFields } from '../../../core/views/wire.ts'
import { usePlan } from './plan-context.ts'
import { useStrings } from '../texts/strings.ts'

interface TaskDisputeProps {
  readonly task: Task
  readonly dispute: Dispute
  /** Absent if the task can have no checks. */
  readonly onChecks: (() => void) | undefined
  readonly onChange: (fields: PersonsFields) => Promise<boolean>
  /** An answer removes this part, so the focus has to move. */
  readonly onAnswered: () => void
}

/** A dispute that waits, and a person's answers to it. */
export function TaskDispute({ task, dispute, onChecks, onChange, onAnswered }: TaskDisputeProps): ReactElement {
  const { dispute: words, timeline, cancelTask } = useStrings()
  const { plan } = usePlan()
  const [comment, setComment] = useState('')
  const about = timeline.changed('', task.title)
  const act = (label: string, onAct: () => unknown): ReactElement => (
    <button type="button" className="rs-button rs-small" aria-label={label + about} onClick={() => void onAct()}>
      {label}
    </button>
  )
  const answer = async (sent: Promise<boolean>): Promise<void> => {
    if (await sent) onAnswered()
  }
  return (
    <div className="rs-dispute" role="group" aria-label={words.name + about}>
      <p className="rs-note">{words.says(dispute.by, dispute.count)}</p>
      <div className="rs-proof-actions">
        {onChecks && act(words.changeCheck, onChecks)}
        {act(words.settle, () => answer(onChange({ status: 'completed' })))}
        {act(cancelTask, () => answer(onChange({ status: 'cancelled' })))}
      </div>
      <form
        className="rs-title-form"
        onSubmit={event => {
          event.preventDefault()
          void answer(plan.insist(task, comment.trim()))
        }}
      >
        <input
          className="rs-input"
          dir="auto"
          aria-label={words.comment + about}
          placeholder={words.comment}
          maxLength={8_000}
          value={comment}
          onChange={event => setComment(event.target.value)}
        />
        <button type="submit" className="rs-button rs-small" aria-label={words.insist + about}>
          {words.insist}
        </button>
      </form>
    </div>
  )
}
