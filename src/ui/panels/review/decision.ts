import { useState } from 'react'
import type { Client } from '../../../client/client.ts'
import { RunsheetError } from '../../../client/http.ts'
import type { SentDecision } from '../../../core/views/wire.ts'
import { commentedRows, submittedRow, type Draft, type EditableRow } from './draft.ts'
import { errorText } from '../texts/error-text.ts'
import { useStrings } from '../texts/strings.ts'
import type { Review } from '../../../core/model/review.ts'

type Action = SentDecision['action']

/** Why the server refused a decision. */
export interface ReviewError {
  readonly message: string
  /** The field to fix before another attempt. */
  readonly row?: { readonly key: string; readonly field: string; readonly message: string }
  /** Sends the same decision again; absent if a row has to be fixed first. */
  readonly retry?: () => Promise<void>
}

interface DecisionOptions {
  readonly client: Client
  readonly reviewId: string | undefined
  readonly draft: Draft
  readonly comment: string
  readonly areRowsEdited: boolean
  readonly onAccepted: () => void
  /** Reloads the log, which may already contain the outcome. */
  readonly onRefresh: () => void
}

export interface Decision {
  readonly isBusy: boolean
  /** The decision that this window sends or has sent; undefined after a refusal. */
  readonly sent: SentHere | undefined
  readonly error: ReviewError | undefined
  /** Sends a decision, by default with the typed comment; resolves to false if it can be sent again. */
  readonly send: (action: Action, comment?: string, heldMs?: number) => Promise<boolean>
  /** Rejects the plan while the page unloads. */
  readonly rejectOnLeave: (heldMs: number) => void
  readonly clearRowError: (key: string) => void
}

export function useDecision(options: DecisionOptions): Decision {
  const { client, reviewId, draft, comment: typed, onAccepted, onRefresh } = options
  const strings = useStrings()
  const [busyWith, setBusyWith] = useState<string>()
  const [sent, setSent] = useState<Decision['sent']>()
  const [failed, setFailed] = useState<Failure>()
  const isBusy = reviewId !== undefined && busyWith === reviewId

  const send = async (action: Action, given?: string, heldMs?: number): Promise<boolean> => {
    if (isBusy || reviewId === undefined) return true
    const comment = (given ?? typed).trim()
    setBusyWith(reviewId)
    setFailed(undefined)
    const decision = { reviewId, action, comment }
    setSent(decision)
    rememberSent(decision)
    try {
      await client.decide(reviewId, decisionOf(action, comment, options, heldMs))
      rememberSent(undefined)
      // Stays busy until the log has the decision, so that no second one can be sent.
      onAccepted()
      onRefresh()
      return true
    } catch (error) {
      setBusyWith(undefined)
      return refuse({ reviewId, action, comment: given }, error)
    }
  }
  /** Returns true if there is nothing left to send. */
  const refuse = (tried: Tried, error: unknown): boolean => {
    const answer = error instanceof RunsheetError && error.status > 0 ? error : undefined
    if (answer) {
      setSent(undefined)
      rememberSent(undefined)
    }
    // Decided elsewhere in the meantime: the log has the outcome.
    if (answer?.code === 'review_already_decided' || answer?.code === 'review_expired') {
      onRefresh()
      return true
    }
    const { row, field } = refusedRow(answer, tried.action, draft)
    const message = answer ? errorText(strings, answer) : strings.failedToSend
    const number = row === undefined ? 0 : draft.rows.indexOf(row) + 1
    setFailed(
      row === undefined
        ? { ...tried, message }
        : { ...tried, message: strings.rowNeedsFixing(number), row: { key: row.key, field, message } },
    )
    return false
  }
  const rejectOnLeave = (heldMs: number): void => {
    if (reviewId === undefined || isBusy) return
    client.decide(reviewId, decisionOf('cancel', typed.trim(), options, heldMs), { keepalive: true }).catch(() => {})
  }
  return {
    isBusy,
    sent,
    error: failed && failed.reviewId === reviewId ? errorOf(failed, send) : undefined,
    send,
    rejectOnLeave,
    clearRowError: key => setFailed(before => (before?.row?.key === key ? undefined : before)),
  }
}

interface Tried {
  readonly reviewId: string
  readonly action: Action
  /** Absent if the typed comment was sent. */
  readonly comment: string | undefined
}
type Failure = Tried & Pick<ReviewError, 'message' | 'row'>

/** A refused row has to be fixed first; other errors allow a retry. */
function errorOf({ message, row, action, comment }: Failure, send: Decision['send']): ReviewError {
  if (row) return { message, row }
  return {
    message,
    retry: async () => {
      await send(action, comment)
    },
  }
}

function decisionOf(
  action: Action,
  comment: string,
  { draft, areRowsEdited }: Pick<DecisionOptions, 'draft' | 'areRowsEdited'>,
  heldMs?: number,
): SentDecision {
  const onRows = commentedRows(draft.rows).map(row => ({ draft_index: row.draft_index, comment: row.comment }))
  const said = {
    ...(comment === '' ? {} : { comment }),
    ...(onRows.length > 0 ? { row_comments: onRows } : {}),
  }
  const tasks = sentRows(action, draft).map(submittedRow)
  if (action === 'confirm') return { action, tasks, ...said }
  if (action === 'revise') return { action, ...said, ...(areRowsEdited && tasks.length > 0 ? { tasks } : {}) }
  return { action, ...said, ...(heldMs === undefined ? {} : { held_ms: heldMs }) }
}

function refusedRow(
  error: RunsheetError | undefined,
  action: Action,
  draft: Draft,
): { readonly row: EditableRow | undefined; readonly field: string } {
  const { row = -1, field = '' } = error?.details ?? {}
  const [, comment] = /^row_comments\[(\d+)\]/.exec(field) ?? []
  if (comment === undefined) return { row: sentRows(action, draft)[row], field }
  return { row: commentedRows(draft.rows)[Number(comment)], field: 'comment' }
}

/** A plan sent back for changes may be half edited, so rows without a title are omitted. */
const sentRows = (action: Action, { rows }: Draft): Draft['rows'] =>
  action === 'revise' ? rows.filter(({ title }) => title.trim() !== '') : rows

export interface SentHere {
  readonly reviewId: string
  readonly action: SentDecision['action']
  readonly comment: string
}

const KEY = 'runsheet.sent'

/** Survives a reload. The server may have refused the decision since. */
export function sentBeforeReload(reviewId: string): SentHere | undefined {
  try {
    const sent = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as SentHere | null
    return sent?.reviewId === reviewId ? sent : undefined
  } catch {
    // Storage is blocked or damaged: if a reload loses the answer, the decision looks like another window's.
    return undefined
  }
}

function rememberSent(sent: SentHere | undefined): void {
  try {
    if (sent) sessionStorage.setItem(KEY, JSON.stringify(sent))
    else sessionStorage.removeItem(KEY)
  } catch {
    // Storage is blocked: the decision is known only until a reload.
  }
}

/** Extends a review that has a deadline. */
export interface MoreTime {
  /** Moves the deadline to `ms` from now, by default to the original duration. Every window sees it. */
  readonly extend: (ms?: number) => Promise<void>
  readonly isBusy: boolean
  /** Why the extension was refused. */
  readonly error: string | undefined
}

/** Undefined for a review without a deadline. `onRefresh` reloads the log, which may already contain the decision. */
export function useMoreTime(client: Client, review: Review | undefined, onRefresh: () => void): MoreTime | undefined {
  const strings = useStrings()
  const [isBusy, setBusy] = useState(false)
  const [failed, setFailed] = useState<{ readonly id: string; readonly message: string }>()
  if (!review || review.expires_at === null) return undefined
  const { review_id: id } = review
  return {
    extend: async ms => {
      if (isBusy) return
      setBusy(true)
      setFailed(undefined)
      try {
        await client.extend(id, ms)
      } catch (error) {
        setFailed({ id, message: errorText(strings, error) })
        onRefresh()
      }
      setBusy(false)
    },
    isBusy,
    error: failed?.id === id ? failed.message : undefined,
  }
}
