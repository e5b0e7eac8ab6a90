import { type ReactElement, useEffect, useRef } from 'react'
import type { PersonsFields } from '../../../core/views/wire.ts'
import type { SentCheck } from '../../../core/views/wire.ts'
import { isOpen, type Task } from '../../../core/model/task.ts'
import { acceptWord } from '../review/accept-word.ts'
import { AddCheck } from '../draft/add-check.tsx'
import { CheckItem } from './check-item.tsx'
import { withText, writtenCheck } from './check-text.ts'
import { FileChanges } from './file-changes.tsx'
import { usePlan } from './plan-context.ts'
import { useStrings } from '../texts/strings.ts'
import { TaskEvidence } from './task-evidence.tsx'

interface TaskChecksProps {
  readonly id: string
  readonly task: Task
  readonly onChange: (fields: PersonsFields) => Promise<boolean>
}

export function TaskChecks({ id, task, onChange }: TaskChecksProps): ReactElement {
  const strings = useStrings()
  const { proof } = usePlan().plan
  const section = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The braces discard the promise that newer browsers return; an effect must not return it.
    section.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const standing = proof.standingOf(task)
  const checks = proof.checksOf(task)
  const about = strings.timeline.changed('', task.title)
  const replace = (all: readonly SentCheck[]): Promise<boolean> => onChange({ checks: all })
  const current = task.checks ?? []
  const hasComplaint = proof.rejectionOf(task) !== undefined || checks.some(({ finding }) => finding === 'failed')
  const accept = acceptWord(task, hasComplaint, strings)
  // Without a complaint the row's own checkbox is enough.
  const isUndone = isOpen(task) || task.status === 'blocked'
  const canAccept = isUndone ? hasComplaint : standing === 'reported' || standing === 'judged'
  return (
    <div ref={section} id={id} className="rs-proof" role="group" aria-label={strings.fields.checks + about}>
      {standing !== undefined && <p className="rs-note">{strings.checks.standingReason[standing]}</p>}
      {checks.length > 0 && (
        <ul className="rs-checks">
          {checks.map(each => (
            <CheckItem
              key={each.check.id}
              task={task}
              of={each}
              onApprove={() => void onChange({ approve: [each.check.hash] })}
              onEdit={text => replace(current.map(check => (check === each.check ? withText(check, text) : check)))}
              onRemove={() => void replace(current.filter(check => check !== each.check))}
            />
          ))}
        </ul>
      )}
      <TaskEvidence taskId={task.id} />
      <FileChanges checks={checks} onAccept={paths => proof.acceptChanges(paths, task)} />
      <div className="rs-proof-actions">
        {proof.hasWorkspace(task) && (
          <AddCheck
            about={about}
            onAdd={(line, isHidden) => replace([...current, writtenCheck(line.trim(), isHidden)])}
          />
        )}
        {canAccept && (
          <button
            type="button"
            className="rs-button rs-small"
            aria-label={accept + about}
            onClick={() => void onChange({ status: 'completed' })}
          >
            {accept}
          </button>
        )}
        {!isOpen(task) && (
          <button type="button" className="rs-button rs-small" onClick={() => void onChange({ status: 'pending' })}>
            {strings.reopen}
          </button>
        )}
      </div>
    </div>
  )
}
