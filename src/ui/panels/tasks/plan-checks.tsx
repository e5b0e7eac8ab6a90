import type { ReactElement } from 'react'
import { checkLabel, runText } from './check-text.ts'
import { FileChanges } from './file-changes.tsx'
import { usePlan } from './plan-context.ts'
import { ProofIcon } from './proof-icon.tsx'
import { useStrings } from '../texts/strings.ts'

export function PlanChecks(): ReactElement | null {
  const strings = useStrings()
  const { proof } = usePlan().plan
  if (proof.ownChecks.length === 0) return null
  return (
    <div className="rs-proof rs-plan-checks">
      <p className="rs-note">{strings.checks.atTheEnd}</p>
      <ul className="rs-checks">
        {proof.ownChecks.map(({ check, state, last, output }) => (
          <li key={check.id} className="rs-check-item">
            <span className="rs-check-label rs-code">{checkLabel(check, strings)}</span>
            <span className="rs-check-state">
              <ProofIcon of={state} />
              {last && state === last.result ? runText(last, strings) : strings.checks.state[state]}
            </span>
            {output !== undefined && output !== '' && (
              <pre
                className="rs-output rs-code"
                tabIndex={0}
                role="group"
                aria-label={strings.timeline.changed(strings.checks.output, checkLabel(check, strings))}
              >
                {output}
              </pre>
            )}
          </li>
        ))}
      </ul>
      <FileChanges checks={proof.ownChecks} onAccept={paths => proof.acceptChanges(paths)} />
    </div>
  )
}
