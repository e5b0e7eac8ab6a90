import { ChevronRight, Minus } from 'lucide-react'
import { memo, type ReactElement, type ReactNode, useId, useState } from 'react'
import { Button } from '../parts/controls.tsx'
import type { Standing } from '../../../core/proof/standing.ts'
import { isOpen, type Task } from '../../../core/model/task.ts'
import type { StepItem, WorkedStep } from '../../../core/views/thread.ts'
import type { Message } from '../../../core/views/transcript.ts'
import { acceptWord } from '../plan/row-mark.ts'
import { heldOutText, plainLine, plainMarkdown } from '../parts/text.ts'
import { ProofIcon, StatusIcon } from '../parts/icons.tsx'
import { ClaimLine, RunLine, UnapprovedLine, VerdictLine } from './lines.tsx'
import { useThreadStrings } from '../texts/use-thread-strings.ts'
import { ToolText, ToolUse } from './tool-use.tsx'

/** The props of `ThreadStep`. */
export interface ThreadStepProps {
  readonly step: WorkedStep
  /** The current task, for its action buttons. Without it, or if a later turn took the task up, there are none. */
  readonly task?: Task | undefined
  /** How far the task's "done" can be trusted. */
  readonly standing?: Standing | undefined
  /** The agent works on this task: open until a person folds it. */
  readonly isCurrent?: boolean
  /** Open until a person folds it, for example because a search result is inside. */
  readonly startsOpen?: boolean
  /** The icon spins: the agent works on it now. */
  readonly isRunning?: boolean
  /** The text that the agent is streaming. */
  readonly live?: ReactNode
  /** Renders an agent message; by default as plain text. */
  readonly renderText?: (message: Message) => ReactNode
  /** Renders the outcome in an open step; by default as plain text without Markdown, as in a folded step. */
  readonly renderOutcome?: (outcome: string) => ReactNode
  /** Completes the task on the person's word. Without it there is no such button. */
  readonly onAccept?: ((task: Task) => void) | undefined
  readonly onReopen?: ((task: Task) => void) | undefined
}

/**
 * The work on one task: agent messages, tool calls, and the results of the judge and the checks. Folded unless an agent
 * works on it or a person opened it; a refusal by the judge and a failed check always show.
 */
export const ThreadStep = memo(function ThreadStep(props: ThreadStepProps): ReactElement {
  const {
    step,
    standing,
    isCurrent = false,
    isRunning = false,
    startsOpen = false,
    live,
    renderText = plainText,
    renderOutcome,
    onAccept,
    onReopen,
  } = props
  const strings = useThreadStrings()
  // A task that a later turn took up is settled there.
  const task = step.taken_up === undefined ? props.task : undefined
  const [chosen, setChosen] = useState<boolean>()
  const workId = useId()
  const work = step.items.filter(isShown)
  const complaint = isSettled(step) ? undefined : lastComplaint(step.items)
  // The outcome of a task that the judge blocked is the judge's reason.
  const isSaid = complaint?.kind === 'verdict' && complaint.reason === step.outcome
  const outcome = (isSettled(step) || step.status === 'blocked') && !isSaid ? step.outcome : undefined
  const { unapproved = [] } = step
  const canOpen =
    work.length + unapproved.length > 0 ||
    live !== undefined ||
    outcome !== undefined ||
    (task !== undefined && !isOpen(task))
  const isExpanded = canOpen && (chosen ?? (isCurrent || startsOpen))
  const canAccept = onAccept && task && mayAccept(task, standing, isExpanded, complaint !== undefined)
  const canReopen = onReopen && task && !isOpen(task) && (isExpanded || task.status === 'blocked')
  const accept = task ? acceptWord(task, complaint !== undefined, strings) : ''
  const about = strings.timeline.changed('', step.title)
  const heading = (
    <>
      {step.status === 'removed' ? (
        <span className="rs-status" role="img" aria-label={strings.thread.removedStep}>
          <Minus size={16} aria-hidden="true" />
        </span>
      ) : (
        <StatusIcon status={step.status} isRunning={isRunning} />
      )}
      <bdi className="rs-step-title">{step.title}</bdi>
      {standing && (
        <span className={`rs-step-word rs-mark-${standing}`}>
          <ProofIcon of={standing} />
          {strings.checks.standing[standing]}
          {heldOutText(task?.checks, strings)}
        </span>
      )}
      {step.status === 'blocked' && (
        // The icon already tells screen readers.
        <span className="rs-step-word rs-mark-blocked" aria-hidden="true">
          {strings.status.blocked}
        </span>
      )}
    </>
  )
  return (
    <div className={`rs-step rs-step-${step.status}`} role="group" aria-label={step.title}>
      <h2 className="rs-step-head">
        {canOpen ? (
          <button
            type="button"
            aria-expanded={isExpanded}
            aria-controls={workId}
            onClick={() => setChosen(!isExpanded)}
          >
            {heading}
            <ChevronRight className="rs-chevron" size={16} aria-hidden="true" />
          </button>
        ) : (
          <span>{heading}</span>
        )}
      </h2>
      <div className="rs-step-work" id={workId}>
        {isExpanded && work.map(item => <Work key={keyOf(item)} of={item} isRunning={isCurrent} text={renderText} />)}
        {isExpanded && unapproved.map(check => <UnapprovedLine key={check.id} check={check} />)}
        {isExpanded && live}
        {!isExpanded && complaint && <Work of={complaint} isRunning={false} text={renderText} />}
        {outcome !== undefined &&
          (isExpanded && renderOutcome ? (
            <div className="rs-step-outcome">{renderOutcome(outcome)}</div>
          ) : (
            <p className={`rs-step-outcome ${isExpanded ? 'rs-lines' : 'rs-clamp'}`} dir="auto">
              {isExpanded ? plainMarkdown(outcome) : plainLine(outcome)}
            </p>
          ))}
        {(canAccept || canReopen) && (
          <p className="rs-step-actions">
            {canAccept && (
              <Button isSmall aria-label={accept + about} onClick={() => onAccept(task)}>
                {accept}
              </Button>
            )}
            {canReopen && (
              <Button isSmall aria-label={strings.reopen + about} onClick={() => onReopen(task)}>
                {strings.reopen}
              </Button>
            )}
          </p>
        )}
      </div>
    </div>
  )
}, isSame)

interface WorkProps {
  readonly of: StepItem
  readonly isRunning: boolean
  readonly text: (message: Message) => ReactNode
}

function Work({ of, isRunning, text }: WorkProps): ReactNode {
  const strings = useThreadStrings()
  switch (of.kind) {
    case 'text':
      return text(of.message)
    case 'call':
      return <ToolUse call={of.call} isRunning={isRunning} />
    case 'report':
      return (
        <p className="rs-line">
          <ProofIcon of={of.ok ? 'passed' : 'failed'} />
          <span>
            <ToolText tool={of.tool} subject={of.subject} />{' '}
            <small>
              {strings.evidence.says[of.source]}
              {of.ok ? '' : ` · ${strings.thread.useFailed}`}
            </small>
          </span>
        </p>
      )
    case 'claim':
      return <ClaimLine of={of} />
    case 'verdict':
      return <VerdictLine of={of} />
    case 'run':
      return <RunLine of={of.run} />
  }
}

const plainText = ({ message_id, text }: Message): ReactNode => (
  <p key={message_id} className="rs-step-text" dir="auto">
    {text}
  </p>
)

/** A granted claim shows as the outcome, and a yes without a reason as the standing. */
function isShown(item: StepItem): boolean {
  if (item.kind === 'claim') return item.result !== 'granted'
  return item.kind !== 'verdict' || item.verdict !== 'ok' || item.reason !== ''
}

/** The judge's refusal or a failed check, unless a later result supersedes it. */
function lastComplaint(items: readonly StepItem[]): StepItem | undefined {
  const last = items.findLast(item => (item.kind === 'verdict' && !item.fenced) || item.kind === 'run')
  const isBad =
    last?.kind === 'verdict' ? last.verdict === 'not_ok' : last?.kind === 'run' && last.run.result !== 'passed'
  return isBad ? last : undefined
}

const isSettled = ({ status }: WorkedStep): boolean =>
  status === 'completed' || status === 'cancelled' || status === 'removed'

function mayAccept(task: Task, standing: Standing | undefined, isExpanded: boolean, hasComplaint: boolean): boolean {
  if (standing) return isExpanded && (standing === 'reported' || standing === 'judged')
  return task.status === 'blocked' || (isOpen(task) && hasComplaint)
}

function keyOf(item: StepItem): string {
  switch (item.kind) {
    case 'text':
      return item.message.message_id
    case 'call':
      return item.call.tool_call_id
    case 'report':
      return item.evidence_id
    case 'claim':
      return item.claim_id
    case 'verdict':
      return `${item.at} ${item.seal}`
    case 'run':
      return item.run.run_id
  }
}

/** Every event rebuilds the thread, but most steps stay the same. */
function isSame(before: ThreadStepProps, after: ThreadStepProps): boolean {
  const { step: a, ...one } = before
  const { step: b, ...other } = after
  const keys = Object.keys({ ...one, ...other }) as (keyof typeof one)[]
  return (
    keys.every(key => one[key] === other[key]) &&
    a.task_id === b.task_id &&
    a.title === b.title &&
    a.status === b.status &&
    a.outcome === b.outcome &&
    a.taken_up === b.taken_up &&
    idsOf(a) === idsOf(b) &&
    a.items.length === b.items.length &&
    a.items.every((item, index) => contentOf(item) === contentOf(b.items[index]))
  )
}

const idsOf = ({ unapproved = [] }: WorkedStep): string => unapproved.map(({ id }) => id).join(' ')

/** The same value as long as the item renders the same. */
function contentOf(item: StepItem | undefined): unknown {
  switch (item?.kind) {
    case 'text':
      return item.message
    case 'call':
      return item.call
    case 'run':
      return item.run.run_id
    default:
      return item
  }
}
