import { useState } from 'react'
import type { Client } from '../client/client.ts'
import { RunsheetError } from '../client/runsheet-error.ts'
import { type Draft, submittedRow } from './draft.ts'
import { errorText } from './error-text.ts'
import { useStrings } from './strings.ts'

export type Action = 'confirm' | 'cancel'

/** Why the server did not accept a decision. */
export interface ReviewError {
  readonly message: string
  /** The field that has to be fixed first. */
  readonly row?: { readonly key: string; readonly field: string; readonly message: string }
  /** Sends the same decision again; absent where a row has to be fixed first. */
  readonly retry?: () => Promise<void>
}

interface DecisionOptions {
  readonly client: Client
  readonly reviewId: string | undefined
  readonly draft: Draft
  readonly onAccepted: () => void
  /** Reads the log again, which may already hold the outcome. */
  readonly onRefresh: () => void
}

export interface Decision {
  readonly isBusy: boolean
  /** The decision that this window has sent or is sending; undefined after the server refused it. */
  readonly sent: { readonly reviewId: string; readonly action: Action } | undefined
  readonly error: ReviewError | undefined
  readonly send: (action: Action) => Promise<void>
  /** Removes the error of a row that is being edited. */
  readonly clearRowError: (key: string) => void
}

/** Sends a decision and keeps track of what became of it. */
export function useDecision({ client, reviewId, draft, onAccepted, onRefresh }: DecisionOptions): Decision {
  const strings = useStrings()
  const [busyWith, setBusyWith] = useState<string>()
  const [sent, setSent] = useState<Decision['sent']>()
  const [failed, setFailed] = useState<Failure>()
  const { rows } = draft
  const isBusy = reviewId !== undefined && busyWith === reviewId

  const send = async (action: Action): Promise<void> => {
    if (isBusy || reviewId === undefined) return
    const comment = draft.comment.trim() === '' ? {} : { comment: draft.comment.trim() }
    setBusyWith(reviewId)
    setFailed(undefined)
    setSent({ reviewId, action })
    try {
      await client.decide(
        reviewId,
        action === 'confirm' ? { action, tasks: rows.map(submittedRow), ...comment } : { action, ...comment },
      )
      // Stays busy until the log has the decision: there is nothing left to press.
      onAccepted()
      onRefresh()
    } catch (error) {
      setBusyWith(undefined)
      refuse(reviewId, error, action)
    }
  }
  const refuse = (id: string, error: unknown, action: Action): void => {
    const answer = error instanceof RunsheetError && error.status > 0 ? error : undefined
    if (answer) setSent(undefined)
    // Decided elsewhere in the meantime: the log has the outcome.
    if (answer?.code === 'review_already_decided' || answer?.code === 'review_expired') return onRefresh()
    const index = answer?.details.row ?? -1
    const row = rows[index]
    const message = answer ? errorText(strings, answer) : strings.failedToSend
    if (!row) return setFailed({ reviewId: id, message, action })
    const field = answer?.details.field ?? ''
    setFailed({ reviewId: id, message: strings.rowNeedsFixing(index + 1), row: { key: row.key, field, message } })
  }
  return {
    isBusy,
    sent,
    error: failed?.reviewId === reviewId ? errorOf(failed, send) : undefined,
    send,
    clearRowError: key => setFailed(before => (before?.row?.key === key ? undefined : before)),
  }
}

interface Failure extends Pick<ReviewError, 'message' | 'row'> {
  readonly reviewId: string
  /** What can be sent again. */
  readonly action?: Action
}

function errorOf(failure: Failure | undefined, send: Decision['send']): ReviewError | undefined {
  if (!failure) return undefined
  const { message, row, action } = failure
  return { message, ...(row ? { row } : {}), ...(action ? { retry: () => send(action) } : {}) }
}
