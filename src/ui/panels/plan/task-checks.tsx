import { type ReactElement, useEffect, useRef, useState } from 'react'
import { Button } from '../parts/controls.tsx'
import type { EvidenceView, PersonsFields, SentCheck, VerdictView } from '../../../core/views/wire.ts'
import { isOpen, type Task } from '../../../core/model/task.ts'
import { acceptWord } from './row-mark.ts'
import { AddCheck } from '../parts/line-input.tsx'
import { CheckItem, usePlan } from './check-item.tsx'
import { withText, writtenCheck } from '../parts/text.ts'
import { useStrings } from '../texts/strings.ts'
import type { Json } from '../../../core/model/event.ts'
import { errorText } from '../texts/error-text.ts'
import { ProofIcon } from '../parts/icons.tsx'
import { useEvidence } from '../hooks/use-thread.ts'
import type { FileChange } from '../../../core/proof/file-change.ts'
import type { Dispute } from '../../../core/proof/dispute.ts'

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
          <Button isSmall aria-label={accept + about} onClick={() => void onChange({ status: 'completed' })}>
            {accept}
          </Button>
        )}
        {!isOpen(task) && (
          <Button isSmall onClick={() => void onChange({ status: 'pending' })}>
            {strings.reopen}
          </Button>
        )}
      </div>
    </div>
  )
}

function TaskEvidence({ taskId }: { readonly taskId: string }): ReactElement | null {
  const strings = useStrings()
  const { evidence, error, reload } = useEvidence(taskId, usePlan())
  if (!evidence) {
    if (!error) return null
    return (
      <p className="rs-note" role="alert">
        {errorText(strings, error)}{' '}
        <button type="button" className="rs-more" onClick={reload}>
          {strings.evidence.tryAgain}
        </button>
      </p>
    )
  }
  const left = evidence.left_out.reduce((total, { calls }) => total + calls, 0)
  return (
    <>
      {evidence.verdicts.length > 0 && (
        <ul className="rs-checks" aria-label={strings.evidence.verdicts}>
          {evidence.verdicts.map(each => (
            <Verdict key={each.at} of={each} />
          ))}
        </ul>
      )}
      {evidence.evidence.length > 0 && (
        <ul className="rs-checks" aria-label={strings.evidence.title}>
          {evidence.evidence.map(each => (
            <Call key={each.id} of={each} />
          ))}
        </ul>
      )}
      {left > 0 && <p className="rs-note">{strings.evidence.leftOut(left)}</p>}
    </>
  )
}

function Verdict({ of }: { readonly of: VerdictView }): ReactElement {
  const { evidence: strings } = useStrings()
  const basis = basisOf(of, strings)
  return (
    <li className="rs-check-item">
      <span className="rs-check-label">
        {of.reason === '' ? strings.noReason : of.reason}
        <small>
          {' '}
          {of.model}
          {basis === undefined ? '' : ` · ${basis}`}
        </small>
      </span>
      <span className="rs-check-state">
        <ProofIcon of={ICONS[of.verdict]} />
        {strings.verdict[of.verdict]}
      </span>
    </li>
  )
}

const ICONS = { ok: 'judged', not_ok: 'failed', unknown: 'inconclusive' } as const

/** The evidence behind a judge's verdict, or why the verdict has no effect. */
function basisOf(
  { cited, uncited, on_words_alone, fenced }: VerdictView,
  strings: ReturnType<typeof useStrings>['evidence'],
): string | undefined {
  if (fenced) return strings.fenced
  if (on_words_alone) return strings.onWordsAlone
  if (uncited) return strings.uncited
  return cited.length > 0 ? strings.cites(cited.length) : undefined
}

function Call({ of }: { readonly of: EvidenceView }): ReactElement {
  const strings = useStrings()
  const { says } = strings.evidence
  return (
    <li className="rs-check-item">
      <details className="rs-call">
        <summary>
          <span className="rs-check-label rs-code">
            {of.tool} {shown(onlyText(of.arguments))}
          </span>
          <span className="rs-check-state">
            {of.source !== 'run' && says[of.source]}
            <ProofIcon of={of.ok ? 'passed' : 'failed'} />
            {of.ok ? strings.evidence.succeeded : strings.checks.state.failed}
          </span>
        </summary>
        <pre
          className="rs-output rs-code"
          tabIndex={0}
          role="group"
          aria-label={strings.timeline.changed(strings.checks.output, of.tool)}
        >
          {`${shown(onlyText(of.arguments), 2)}\n\n${shown(of.answer, 2)}`.trim()}
        </pre>
      </details>
    </li>
  )
}

/** A single text argument, such as a command, is shown without its JSON. */
function onlyText(args: Json): Json {
  const values = typeof args === 'object' && args !== null ? Object.values(args) : []
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : args
}

/** Strings as they are, other values as JSON. */
const shown = (value: Json, indent = 0): string =>
  value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, undefined, indent)

interface FileChangesProps {
  readonly checks: readonly { readonly changes: readonly FileChange[] }[]
  readonly onAccept: (paths: readonly string[]) => Promise<unknown>
}

/** Changes that wait for a person: protected files are accepted one by one, the others together. */
export function FileChanges({ checks, onAccept }: FileChangesProps): ReactElement | null {
  const { checks: strings } = useStrings()
  const [isBusy, setBusy] = useState(false)
  const changes = [...new Map(checks.flatMap(each => each.changes).map(change => [change.path, change])).values()]
  if (changes.length === 0) return null
  const accept = async (paths: readonly string[]): Promise<void> => {
    setBusy(true)
    await onAccept(paths)
    setBusy(false)
  }
  const button = (text: string, label: string | undefined, paths: readonly string[]): ReactElement => (
    <Button isSmall aria-label={label} aria-disabled={isBusy} onClick={() => void (isBusy || accept(paths))}>
      {text}
    </Button>
  )
  const isTogether = ({ is }: FileChange): boolean => is === 'outside' || is === 'git'
  const together = changes.filter(isTogether).map(({ path }) => path)
  return (
    <div className="rs-file-changes">
      <p>{changes.every(({ is }) => is === 'own') ? strings.ownTestsChanged : strings.changedOutside}</p>
      <ul>
        {changes.map(change => (
          <li key={change.path}>
            <span className="rs-code">{change.is === 'git' ? strings.fromGit(change.files ?? 1) : change.path}</span>
            {!isTogether(change) && button(strings.acceptOne, `${strings.acceptOne} ${change.path}`, [change.path])}
          </li>
        ))}
      </ul>
      {together.length > 0 &&
        button(together.length < changes.length ? strings.acceptRest : strings.acceptChanges, undefined, together)}
    </div>
  )
}

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
    <Button isSmall aria-label={label + about} onClick={() => void onAct()}>
      {label}
    </Button>
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
        <Button type="submit" isSmall aria-label={words.insist + about}>
          {words.insist}
        </Button>
      </form>
    </div>
  )
}
