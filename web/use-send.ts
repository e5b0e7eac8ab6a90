import { type Dispatch, type SetStateAction, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { type Client, type LiveState, randomId, type SentStart } from 'runsheet/client'
import type { ConversationView } from 'runsheet/react'
import { markStarted } from './new-sessions.ts'
import { useStored } from './use-stored.ts'

/** A message on its way, under the id that it will have in the log. */
export interface Outgoing {
  readonly message_id: string
  readonly text: string
  /** How it starts a turn. Absent: it joins the one at work. */
  readonly start?: SentStart
  /** It came from the message box. */
  readonly isTyped: boolean
  /** The log has what became of it once it is this long. */
  readonly seq?: number
}

export interface Failure {
  readonly error: unknown
  readonly retry: () => void
}

export interface Sending {
  /** The text in the message box. */
  readonly text: string
  readonly setText: Dispatch<SetStateAction<string>>
  /** The message being sent, until the log has it. */
  readonly outgoing: Outgoing | undefined
  readonly failure: Failure | undefined
  readonly setFailure: (failure: Failure | undefined) => void
  /** Sends a message from the box, or an example; if that fails, the text returns to the box. */
  readonly sendTyped: (message: string) => void
  /** Sends a message on behalf of a button. */
  readonly send: (message: string, more?: Pick<SentStart, 'continue_turn_id'>) => void
}

/**
 * Sends messages: shown at once, and never lost or sent twice. While a turn runs, or messages wait, they join those that
 * wait. `choices` are added to every message that starts a turn.
 */
export function useSend(
  client: Client,
  session: string,
  { state, retry }: ConversationView,
  choices: SentStart,
): Sending {
  // Until the log has it. After a failure, or when the page is left, its text is in the box.
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
    // Only the answer was lost.
    setText(typed => (typed.trim() === pending.text ? '' : typed))
    setFailure(undefined)
  }, [hasArrived, isSending, pending, setText])
  // A send that fails because the page is being left may have arrived: the next page finds out.
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
      // Text typed in the meantime stays.
      if (isTyped) setText(typed => (typed === '' ? message : typed))
      setFailure({ error, retry: () => void post(request) })
    }
  }
  const begin = (message: string, start: SentStart, isTyped: boolean): void => {
    if (outgoing) return
    // What failed to be sent keeps its id: if it arrived after all, it is not sent twice.
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

/** Whether the log has it. */
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
