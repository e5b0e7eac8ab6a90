import { useRef, useState } from 'react'
import { RunsheetError } from '../client/runsheet-error.ts'
import type { ApprovalDecision, ToolApproval } from '../domain/tool-approval.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'

/** Calls of tools that wait for a person, and what a person can do about them. */
export interface ApprovalsHandle {
  /** Oldest first. One that is decided in any window is gone. */
  readonly waiting: readonly ToolApproval[]
  /**
   * Allows a call this once, allows the tool from now on, or denies the call. Repeating it after a failure is safe. Whether
   * it is decided, by this window or another.
   */
  readonly decide: (approvalId: string, decision: ApprovalDecision, comment?: string) => Promise<boolean>
  /** The approval whose decision is on its way. */
  readonly deciding: string | undefined
  /** Why the last decision was refused. */
  readonly error: unknown
  /** The call was allowed, but "always" could not be saved: why. */
  readonly notSaved: string | undefined
}

/** Approvals without any UI: what the agent wants to do, until a person has said yes or no. */
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
      // The log may show already who was faster.
      view.retry()
      return problem instanceof RunsheetError && problem.code === 'approval_already_decided'
    } finally {
      isBusy.current = false
      setDeciding(undefined)
    }
  }
  return { waiting: view.state.conversation.approvals, decide, deciding, error, notSaved }
}
