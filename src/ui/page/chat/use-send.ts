import { type Dispatch, type SetStateAction, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { type Client, type LiveState, randomId, type Review, type SentStart } from 'runsheet/client'
import type { ConversationView } from 'runsheet/react'
import { markStarted } from '../route.ts'
import { useStored } from '../storage.ts'

/** A message in flight, under the id that it will have in the log. */
interface Outgoing {
  readonly message_id: string
  readonly text: string
  /** Options of the turn that it starts; absent if it joins the running turn. */
  readonly start?: SentStart
  readonly isTyped: boolean
  /** The log contains the result once it reaches this seq. */
  readonly seq?: number
}

interface Failure {
  readonly error: unknown
  readonly retry: () => void
}

interface Sending {
  readonly text: string
  readonly setText: Dispatch<SetStateAction<string>>
  readonly outgoing: Outgoing | undefined
  readonly failure: Failure | undefined
  readonly setFailure: (failure: Failure | undefined) => void
  /** Sends a message from the box, or an example; on failure the text returns to the box. */
  readonly sendTyped: (message: string) => void
  readonly send: (message: string, more?: Pick<SentStart, 'continue_turn_id'>) => void
}

/**
 * Shows messages at once and never loses or duplicates one. While a turn runs, or messages are queued, they join the
 * queue. `choices` apply to every message that starts a turn.
 */
export function useSend(
  client: Client,
  session: string,
  { state, retry }: ConversationView,
  choices: SentStart,
): Sending {
  // Kept until the log has it. After a failure or a reload its text is in the box.
  const [pending, setPending] = useState(() => loadPending(session))
  const [isSending, setSending] = useState(false)
  const [text, setText] = useStored(`runsheet.box.${session}`, pending?.text ?? '')
  const [failure, setFailure] = useState<Failure>()
  const { turns, queued, running_turn } = state.conversation
  const hasTurns = Object.keys(turns).length > 0
  const latest = useRef(state)
  latest.current = state
  const hasArrived = pending !== undefined && isKnown(pending, state)
  const outgoing = isSending && !hasArrived ? pending : undefined
  useEffect(() => {
    if (!hasArrived) return
    setPending(undefined)
    setSending(false)
    if (isSending) return
    // The message arrived; only the answer was lost.
    setText(typed => (typed.trim() === pending.text ? '' : typed))
    setFailure(undefined)
  }, [hasArrived, isSending, pending, setText])
  // A send that fails because the page unloads may have arrived: the next page checks.
  const isKept = pending?.isTyped === true && (isSending || pending.text === text.trim())
  useLayoutEffect(() => {
    if (isKept) sessionStorage.setItem(pendingKey(session), JSON.stringify(pending))
    else sessionStorage.removeItem(pendingKey(session))
  }, [isKept, pending, session])
  useEffect(() => {
    if (pending && !isSending) retry()
  }, [pending, isSending, retry])
  useEffect(() => {
    if (hasTurns) markStarted(session)
  }, [session, hasTurns])

  const post = async (request: Outgoing): Promise<void> => {
    const { message_id, text: message, start, isTyped } = request
    setFailure(undefined)
    setPending(request)
    setSending(true)
    if (isTyped) setText(typed => (typed.trim() === message ? '' : typed))
    try {
      const { seq } = await client.sendMessage(session, message, message_id, start)
      if (!isKnown(request, latest.current)) setPending({ ...request, seq })
      retry()
    } catch (error) {
      if (isKnown(request, latest.current)) return
      setSending(false)
      // Keep text typed in the meantime.
      if (isTyped) setText(typed => (typed === '' ? message : typed))
      setFailure({ error, retry: () => void post(request) })
    }
  }
  const begin = (message: string, start: SentStart, isTyped: boolean): void => {
    if (outgoing) return
    // A failed message keeps its id, so that a retry is idempotent.
    const message_id = pending?.text === message ? pending.message_id : randomId()
    const joins = running_turn !== null || queued.length > 0
    void post({ message_id, text: message, isTyped, ...(joins ? {} : { start }) })
  }
  return {
    text,
    setText,
    outgoing,
    failure,
    setFailure,
    sendTyped: message => begin(message, choices, true),
    send: (message, more = {}) => begin(message, { ...choices, ...more }, false),
  }
}

const isKnown = ({ message_id, seq = Infinity }: Outgoing, { messages, conversation }: LiveState): boolean =>
  conversation.seq >= seq || [conversation.queued, messages].some(each => each.some(hasId(message_id)))

const hasId =
  (id: string) =>
  ({ message_id }: { readonly message_id: string }): boolean =>
    message_id === id

const pendingKey = (session: string): string => `runsheet.pending.${session}`

function loadPending(session: string): Outgoing | undefined {
  const saved = sessionStorage.getItem(pendingKey(session))
  return saved === null ? undefined : (JSON.parse(saved) as Outgoing)
}

interface TextOwner {
  /** The text is older than the waiting review, so it is not part of the decision. */
  readonly isFromBefore: boolean
  readonly useForReview: () => void
}

/** Tracks whether the text was begun as a message or for the waiting review. Survives a reload. */
export function useTextOwner(session: string, text: string, review: Review | undefined): TextOwner {
  const [owner, setOwner] = useStored(`runsheet.box-for.${session}`, '')
  const waiting = review?.review_id ?? ''
  const isEmpty = text.trim() === ''
  useLayoutEffect(() => {
    if (isEmpty) setOwner(waiting)
  }, [isEmpty, waiting, setOwner])
  return {
    isFromBefore: review !== undefined && !isEmpty && owner !== waiting && owner !== review.reopens,
    useForReview: () => setOwner(waiting),
  }
}
