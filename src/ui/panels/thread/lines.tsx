import { ChevronRight, CircleCheck, CircleStop, CornerDownLeft, RotateCcw, TriangleAlert } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { Button } from '../parts/controls.tsx'
import type { StepItem, StepRun, ThreadItem, ThreadTurn, TurnEnd } from '../../../core/views/thread.ts'
import { type AllStrings, useThreadStrings } from '../texts/use-thread-strings.ts'
import { isDoneWith, tallyWords } from '../plan/progress.ts'
import type { PlanTally } from '../../../core/views/tally.ts'
import type { EndReason } from '../../../core/model/turn.ts'
import type { ThreadStrings } from '../texts/strings.ts'
import type { Message } from '../../../core/views/transcript.ts'
import type { Check } from '../../../core/proof/check.ts'
import { checkLabel, plainMarkdown, runText } from '../parts/text.ts'
import { ProofIcon } from '../parts/icons.tsx'

/** The props of `TurnResult`. */
export interface TurnResultProps {
  readonly turn: ThreadTurn
  /** Retries the turn's unfinished work, or its request. Without it there is no such button. */
  readonly onRetry?: (turnId: string) => void
  /** Opens the settings where that may help. Without it there is no such button. */
  readonly onSettings?: () => void
}

/** For a turn of an external agent: the tally is all there is to show. */
const SETTLED = { status: 'open', because: 'answered', left: undefined, failure: undefined } as const

/** How a turn ended: done, blocked and open tasks, or the error and what to do about it. */
export function TurnResult({ turn, onRetry, onSettings }: TurnResultProps): ReactElement | null {
  const strings = useThreadStrings()
  const { turn_id, tally, end = turn.is_settled ? SETTLED : undefined } = turn
  if (!end) return null
  const { result, reason } = endWords(end, tally, strings)
  const { failure, left, status } = end
  if (result === '' && reason === '' && !failure) return null
  const isDone = tally !== undefined && isDoneWith(tally, status)
  // The plan's panel offers to continue open tasks, and to answer disputes.
  const isEarly = (status === 'stopped' || status === 'incomplete') && !left && !isDone && !tally?.disputed
  // After a failure with open tasks, Retry covers blocked ones, too.
  const isBlocked = left !== undefined && tally !== undefined && tally.blocked > 0 && !(failure && left === 'open')
  const canRetry = status === 'failed' || isBlocked || isEarly
  const retry = onRetry && canRetry && (
    <Button isSmall onClick={() => onRetry(turn_id)}>
      <RotateCcw size={14} aria-hidden="true" /> {isBlocked ? strings.thread.retryBlocked : strings.retry}
    </Button>
  )
  if (failure) {
    const { title, hint, isSetting } = failureWords(failure.code, strings)
    return (
      <div className="rs-result rs-failure" role="note">
        <TriangleAlert size={16} aria-hidden="true" />
        <div>
          <strong>{title}</strong>
          <p>{failureText(failure, strings)}</p>
          {hint !== '' && <p>{hint}</p>}
          {result !== '' && <p className="rs-note">{result}</p>}
        </div>
        {onSettings && isSetting && (
          <Button isSmall onClick={onSettings}>
            {strings.thread.openSettings}
          </Button>
        )}
        {retry}
      </div>
    )
  }
  const Icon = isDone ? CircleCheck : status === 'stopped' ? CircleStop : TriangleAlert
  return (
    <div className={`rs-result${isDone ? ' rs-result-done' : ''}`} role="note">
      <Icon size={16} aria-hidden="true" />
      <span>
        {result !== '' && <strong>{result}</strong>}
        {reason !== '' && ` · ${reason}`}
      </span>
      {retry}
    </div>
  )
}

type FailureCode = keyof ThreadStrings['failures']
/** Failures whose message quotes the provider or the connection error. */
type AnsweredFailure = keyof ThreadStrings['failureSays']

/** Messages are stored in English: known parts are extracted and translated, an unknown message is shown unchanged. */
export function failureText({ code, message }: TurnFailure, { thread }: AllStrings): string {
  const { failureSays: says, failureAnswer, modelChanged } = thread
  const [, before, now] = CHANGED.exec(message) ?? []
  if (code === 'model_changed' && before !== undefined && now !== undefined) return modelChanged(before, now)
  const { status = '', url = '', said } = ANSWERED.exec(message)?.groups ?? {}
  const isAnswered = (each: string): each is AnsweredFailure => Object.hasOwn(says, each)
  return isAnswered(code) && said !== undefined ? says[code] + failureAnswer(status, url, said) : message
}

type TurnFailure = NonNullable<TurnEnd['failure']>

const ANSWERED = /^The [^:(]*?(?: \((?<status>\d{3})\))?(?: at (?<url>https?:\/\/\S+?))?: (?<said>.+)$/s
const CHANGED = /: (\S+) is not reached any more .* (?:The model is now|Continue to go on with) (\S+)\.$/

/** The environment variable that may be wrong. */
const SETTINGS: Readonly<Partial<Record<FailureCode, string>>> = {
  provider_unreachable: 'RUNSHEET_MODEL_URL',
  provider_denied: 'RUNSHEET_MODEL_KEY',
  provider_refused: 'RUNSHEET_MODEL',
  model_unknown: 'RUNSHEET_MODEL',
  context_too_long: 'RUNSHEET_MODEL',
}

export function failureWords(code: string, { thread }: AllStrings): FailureWords {
  const isKnown = (known: string): known is FailureCode => Object.hasOwn(thread.failures, known)
  if (!isKnown(code)) return { title: thread.failed, hint: '', isSetting: false }
  const [title, hint] = thread.failures[code]
  return { title, hint: hint(SETTINGS[code] ?? ''), isSetting: code in SETTINGS || code === 'model_changed' }
}

interface FailureWords {
  readonly title: string
  readonly hint: string
  /** Changing a setting may help. */
  readonly isSetting: boolean
}

/** How a turn ended, apart from failures; empty strings are not shown. */
interface EndWords {
  readonly result: string
  readonly reason: string
}

export function endWords(
  { status, because = 'answered' }: Pick<TurnEnd, 'status' | 'because'>,
  tally: PlanTally | undefined,
  strings: AllStrings,
): EndWords {
  const { thread } = strings
  const plan = tally ? tallyWords(tally, strings) : status === 'incomplete' ? thread.notFinished : ''
  const result = [status === 'stopped' ? thread.stopped : '', plan].filter(text => text !== '').join(' · ')
  const isDone = tally !== undefined && isDoneWith(tally, status)
  const reasons: Readonly<Partial<Record<EndReason, string>>> = thread.because
  return { result, reason: isDone ? '' : (reasons[because] ?? '') }
}

/** The props of `FollowUps`. */
export interface FollowUpsProps {
  readonly of: Extract<ThreadItem, { readonly kind: 'follow_ups' }>
  /** Renders an agent message; by default as plain text. */
  readonly renderText?: (message: Message) => ReactNode
}

/** The number of gate follow-ups in one line; expanded, it shows the agent's answers to them. */
export function FollowUps({ of: { count, messages }, renderText = plainText }: FollowUpsProps): ReactElement {
  const { thread } = useThreadStrings()
  const said = messages.filter(({ text }) => text !== '')
  const line = (
    <>
      <CornerDownLeft size={14} aria-hidden="true" />
      <span>{thread.followedUp(count)}</span>
    </>
  )
  if (said.length === 0) return <p className="rs-line">{line}</p>
  return (
    <details className="rs-use rs-follow-ups">
      <summary>
        {line}
        <ChevronRight className="rs-chevron" size={14} aria-hidden="true" />
      </summary>
      {said.map(renderText)}
    </details>
  )
}

const plainText = ({ message_id, text }: Message): ReactNode => (
  <p key={message_id} className="rs-step-text" dir="auto">
    {text}
  </p>
)

type Of<K extends StepItem['kind']> = Extract<StepItem, { readonly kind: K }>

const VERDICTS = { ok: 'judged', not_ok: 'rejected', unknown: 'inconclusive' } as const

/** Such as "Not accepted: figures for March are missing." */
export function VerdictLine({ of: { verdict, reason } }: { readonly of: Of<'verdict'> }): ReactElement {
  const { thread, evidence } = useThreadStrings()
  const why = reason === '' ? (verdict === 'ok' ? '' : evidence.noReason) : reason
  return (
    <Line icon={<ProofIcon of={VERDICTS[verdict]} />} isBad={verdict === 'not_ok'}>
      {why === '' ? thread.verdict[verdict] : thread.about(thread.verdict[verdict], plainMarkdown(why))}
    </Line>
  )
}

/** A check run in one line, such as "npm test passed · 12 s". */
export function RunLine({
  of: run,
  isWhole = false,
}: {
  readonly of: StepRun
  readonly isWhole?: boolean
}): ReactElement {
  const strings = useThreadStrings()
  const { check, result, reason } = run
  return (
    <Line icon={<ProofIcon of={result} />} isBad={result === 'failed'}>
      {isWhole && strings.thread.about(strings.timeline.wholePlan, '')}
      {check ? <bdi className="rs-code">{checkLabel(check, strings)}</bdi> : strings.timeline.unknownCheck}{' '}
      {runText(run, strings)}
      {result === 'inconclusive' && reason !== undefined && ` · ${reason}`}
    </Line>
  )
}

/** Such as "npm test · not approved, not run". */
export function UnapprovedLine({ check }: { readonly check: Check }): ReactElement {
  const strings = useThreadStrings()
  return (
    <Line icon={<ProofIcon of="unapproved" />}>
      <bdi className="rs-code">{checkLabel(check, strings)}</bdi> · {strings.thread.notApproved}
    </Line>
  )
}

/** The agent's claim while it is checked, or after it was refused. */
export function ClaimLine({ of: { outcome, result } }: { readonly of: Of<'claim'> }): ReactElement | null {
  const { thread } = useThreadStrings()
  // A granted claim already shows as the task's outcome.
  if (result === 'granted' || (outcome === '' && result !== undefined)) return null
  const label = result === undefined ? thread.claimWaits : thread.claimed
  return (
    <Line icon={<ProofIcon of={result === undefined ? 'checking' : 'reported'} />}>
      {outcome === '' ? label : thread.about(label, plainMarkdown(outcome))}
    </Line>
  )
}

/** Says that an answer is truncated, and why. */
export function CutLine({ of: { text, cut } }: { readonly of: Message }): ReactElement | null {
  const { thread, locale } = useThreadStrings()
  if (cut === undefined) return null
  return (
    <Line icon={<ProofIcon of="inconclusive" />} isBad>
      {thread.cut[cut](text.length.toLocaleString(locale))}
    </Line>
  )
}

interface LineProps {
  readonly icon: ReactNode
  readonly isBad?: boolean
  readonly children: ReactNode
}

function Line({ icon, isBad = false, children }: LineProps): ReactElement {
  return (
    <p className={`rs-line${isBad ? ' rs-line-bad' : ''}`}>
      {icon}
      <span dir="auto">{children}</span>
    </p>
  )
}
