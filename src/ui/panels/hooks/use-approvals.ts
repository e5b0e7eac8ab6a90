import { useRef, useState } from 'react'
import { RunsheetError } from '../../../client/runsheet-error.ts'
import type { ApprovalDecision, ToolApproval } from '../../../core/model/tool-approval.ts'
import { type RunsheetSource, useRunsheet } from '../parts/provider.tsx'

/** Tool calls that wait for approval, and the decisions a person can make. */
export interface ApprovalsHandle {
  /** Pending approvals, oldest first. Those decided in any window are removed. */
  readonly waiting: readonly ToolApproval[]
  /**
   * Allows a call once, allows the tool from now on, or denies the call. Safe to repeat after a failure. Resolves to
   * whether it is decided, by this window or another.
   */
  readonly decide: (approvalId: string, decision: ApprovalDecision, comment?: string) => Promise<boolean>
  /** The id of the approval whose decision is in flight. */
  readonly deciding: string | undefined
  /** Why the last decision was refused. */
  readonly error: unknown
  /** The call was allowed, but saving "always" failed for this reason. */
  readonly notSaved: string | undefined
}

/** Headless approvals: pending tool calls and their decisions. */
export function useApprovals(source?: RunsheetSource): ApprovalsHandle {
  const { client, session, view } = useRunsheet(source)
  const [deciding, setDeciding] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [notSaved, setNotSaved] = useState<string>()
  const isBusy = useRef(false)
  const decide: ApprovalsHandle['decide'] = async (approvalId, decision, comment) => {
    // A double click is one decision.
    if (isBusy.current) return false
    isBusy.current = true
    setDeciding(approvalId)
    setError(undefined)
    setNotSaved(undefined)
    try {
      const said = comment === undefined ? { decision } : { decision, comment }
      const answer = await client.decideApproval(session, approvalId, said)
      setNotSaved(answer.not_saved)
      return true
    } catch (problem) {
      setError(problem)
      // Another window may have decided first; the log shows that.
      view.retry()
      return problem instanceof RunsheetError && problem.code === 'approval_already_decided'
    } finally {
      isBusy.current = false
      setDeciding(undefined)
    }
  }
  return { waiting: view.state.conversation.approvals, decide, deciding, error, notSaved }
}
