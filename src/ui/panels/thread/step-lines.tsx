import type { ReactElement, ReactNode } from 'react'
import type { Check } from '../../../core/proof/check.ts'
import type { StepItem, StepRun } from '../../../core/views/thread.ts'
import type { Message } from '../../../core/views/transcript.ts'
import { checkLabel, runText } from '../parts/check-text.ts'
import { plainMarkdown } from './plain-markdown.ts'
import { ProofIcon } from '../parts/icons.tsx'
import { useThreadStrings } from '../texts/use-thread-strings.ts'

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
