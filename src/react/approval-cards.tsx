import type { ReactElement } from 'react'
import { ApprovalCard } from './approval-card.tsx'
import type { RunsheetSource } from './runsheet-provider.tsx'
import { useApprovals } from './use-approvals.ts'
import { useThreadStrings } from './use-thread-strings.ts'

/** The props of `ApprovalCards`. */
export interface ApprovalCardsProps extends RunsheetSource {
  /** Only those of this turn. */
  readonly turn?: string
}

/** The calls that wait for the person, a card each. */
export function ApprovalCards({ turn, ...source }: ApprovalCardsProps): ReactElement {
  const { waiting, decide, deciding, error, notSaved } = useApprovals(source)
  const { thread } = useThreadStrings()
  const shown = turn === undefined ? waiting : waiting.filter(({ turn_id }) => turn_id === turn)
  return (
    <>
      {shown.map(approval => (
        <ApprovalCard
          key={approval.approval_id}
          approval={approval}
          isDeciding={deciding === approval.approval_id}
          error={error}
          onDecide={decision => void decide(approval.approval_id, decision)}
        />
      ))}
      {notSaved !== undefined && (
        <p className="rs-line rs-ask-error" role="alert">
          {thread.approval.notSaved(notSaved)}
        </p>
      )}
    </>
  )
}
