import type { ReactElement } from 'react'
import type { Json } from '../../../core/model/event.ts'
import type { EvidenceView, VerdictView } from '../../../core/views/wire.ts'
import { errorText } from '../texts/error-text.ts'
import { usePlan } from './plan-context.ts'
import { ProofIcon } from './proof-icon.tsx'
import { useStrings } from '../texts/strings.ts'
import { useEvidence } from './use-evidence.ts'

export function TaskEvidence({ taskId }: { readonly taskId: string }): ReactElement | null {
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
