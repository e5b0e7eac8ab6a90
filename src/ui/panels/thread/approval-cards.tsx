import { type ReactElement, useEffect, useRef } from 'react'
import { ApprovalCard } from './approval-card.tsx'
import type { RunsheetSource } from '../parts/runsheet-provider.tsx'
import { useApprovals } from './use-approvals.ts'
import { useThreadStrings } from '../texts/use-thread-strings.ts'

/** The props of `ApprovalCards`. */
export interface ApprovalCardsProps extends RunsheetSource {
  /** Shows only the calls of this turn. */
  readonly turn?: string
}

/** The tool calls that wait for approval, one card each. */
export function ApprovalCards({ turn, ...source }: ApprovalCardsProps): ReactElement {
  const { waiting, decide, deciding, error, notSaved } = useApprovals(source)
  const { thread } = useThreadStrings()
  const shown = turn === undefined ? waiting : waiting.filter(({ turn_id }) => turn_id === turn)
  const box = useRef<HTMLDivElement>(null)
  // The card with the pressed button disappears: the next card gets the focus, or the empty container keeps it.
  const hadFocus = useRef(false)
  const cards = shown.map(each => each.approval_id).join()
  useEffect(() => {
    if (!hadFocus.current || document.activeElement !== document.body) return
    hadFocus.current = false
    ;(box.current?.querySelector<HTMLElement>('.rs-ask button') ?? box.current)?.focus()
  }, [cards])
  return (
    <div className="rs-asks" ref={box} tabIndex={-1}>
      {shown.map(approval => (
        <ApprovalCard
          key={approval.approval_id}
          approval={approval}
          isDeciding={deciding === approval.approval_id}
          error={error}
          onDecide={decision => {
            hadFocus.current = true
            void decide(approval.approval_id, decision)
          }}
        />
      ))}
      {notSaved !== undefined && (
        <p className="rs-line rs-ask-error" role="alert">
          {thread.approval.notSaved(notSaved)}
        </p>
      )}
    </div>
  )
}
