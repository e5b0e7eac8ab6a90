import { useState } from 'react'
import type { Client } from '../client/client.ts'
import { RunsheetError } from '../client/runsheet-error.ts'
import type { Review } from '../domain/review.ts'
import { type Draft, submitted } from './draft.ts'
import { explained } from './explained.ts'
import type { RowProblem } from './review-row.tsx'
import { useWords } from './words.ts'

export type Action = 'confirm' | 'cancel'

interface DecisionOptions {
  readonly client: Client
  readonly review: Review
  readonly draft: Draft
  /** A decision is on its way; undefined: it was not taken. */
  readonly onDecide: (action: Action | undefined) => void
  /** It was taken: there is nothing left to keep. */
  readonly onTaken: () => void
  /** Looks at what the log says by now. */
  readonly onLook: () => void
}

export interface Decision {
  readonly isSending: boolean
  /** What went wrong, and what can be tried again. */
  readonly problem: { readonly message: string; readonly again?: Action } | undefined
  /** The row that the server did not take. */
  readonly rowProblem: (RowProblem & { readonly key: string }) | undefined
  readonly send: (action: Action) => Promise<void>
  /** A row is under somebody's hands: what was wrong with it is not said any longer. */
  readonly mending: (key: string) => void
}

/** The decision on its way to the server, and what became of it. */
export function useDecision(options: DecisionOptions): Decision {
  const { client, review, draft, onDecide, onTaken, onLook } = options
  const words = useWords()
  const [problem, setProblem] = useState<Decision['problem']>()
  const [rowProblem, setRowProblem] = useState<Decision['rowProblem']>()
  const [isSending, setSending] = useState(false)
  const { rows } = draft

  const send = async (action: Action): Promise<void> => {
    // Its button stays as it is, so that the focus is not lost.
    if (isSending) return
    const comment = draft.comment.trim() === '' ? {} : { comment: draft.comment.trim() }
    setSending(true)
    setProblem(undefined)
    setRowProblem(undefined)
    onDecide(action)
    try {
      await client.decide(
        review.review_id,
        action === 'confirm' ? { action, tasks: rows.map(submitted), ...comment } : { action, ...comment },
      )
      // Until the log says so, too, there is nothing left to press.
      onTaken()
      onLook()
    } catch (error) {
      setSending(false)
      refused(error, action)
    }
  }
  const refused = (error: unknown, action: Action): void => {
    const known = error instanceof RunsheetError && error.status > 0 ? error : undefined
    if (known) onDecide(undefined)
    // Somebody else was faster: the log shows what they decided.
    if (known?.code === 'review_already_decided' || known?.code === 'review_expired') return onLook()
    const row = known?.details.row === undefined ? undefined : rows[known.details.row]
    if (!known || !row)
      return setProblem({ message: known ? explained(words, known) : words.failedToSend, again: action })
    setRowProblem({ key: row.key, field: known.details.field ?? '', message: explained(words, known) })
    setProblem({ message: words.rowProblem(rows.indexOf(row) + 1) })
  }
  const mending = (key: string): void => {
    if (rowProblem?.key !== key) return
    setRowProblem(undefined)
    setProblem(undefined)
  }
  return { isSending, problem, rowProblem, send, mending }
}
