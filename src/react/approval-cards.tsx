import { type ReactElement, useEffect, useRef } from 'react'
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
  const box = useRef<HTMLDivElement>(null)
  // The card with the button that was pressed goes; its place keeps the focus, or the next card gets it.
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
