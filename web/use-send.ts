import { type Dispatch, type SetStateAction, useEffect, useLayoutEffect, useState } from 'react'
import { type ChatRequest, type Client, randomId } from 'runsheet/client'
import type { ConversationView } from 'runsheet/react'
import { markStarted } from './new-sessions.ts'

export interface Failure {
  readonly error: unknown
  /** The message that failed to send, if it was one. */
  readonly request?: ChatRequest
  readonly retry: () => void
}

export interface Sending {
  /** The text in the message box. */
  readonly text: string
  readonly setText: Dispatch<SetStateAction<string>>
  /** The message being sent, until the log has it. */
  readonly outgoing: ChatRequest | undefined
  readonly failure: Failure | undefined
  readonly setFailure: (failure: Failure | undefined) => void
  /** Sends a message from the box, or an example; if that fails, the text returns to the box. */
  readonly sendTyped: (message: string) => void
  /** Sends a message on behalf of a button. */
  readonly send: (message: string, more?: Pick<ChatRequest, 'continue_turn_id'>) => void
}

/** Sends messages: shown at once, and never lost or sent twice. `choices` are added to every request. */
export function useSend(
  client: Client,
  session: string,
  { state, retry }: ConversationView,
  choices: Partial<ChatRequest>,
): Sending {
  // A message that was being sent when the page was left.
  const [interrupted, setInterrupted] = useState(() => loadOutgoing(session))
  const [text, setText] = useSavedText(session, interrupted?.message)
  const [sent, setSent] = useState<ChatRequest>()
  const [failure, setFailure] = useState<Failure>()
  const { turns } = state.conversation
  const hasTurns = Object.keys(turns).length > 0
  const outgoing = sent && !(sent.turn_id in turns) ? sent : undefined
  // Only the answer was lost: the log has the message.
  const hasArrived = failure?.request !== undefined && failure.request.turn_id in turns
  useEffect(() => {
    if (!hasArrived) return
    setText(typed => (typed.trim() === failure.request?.message ? '' : typed))
    setFailure(undefined)
  }, [hasArrived, failure, setText])
  // The text is back in the box, which is saved by itself. Layout effects, since a passive one may run after the next
  // send, and would remove that one.
  useLayoutEffect(() => removeOutgoing(session), [session])
  // A send that fails because the page is being left may have arrived: the next page finds out.
  const isEdited = failure !== undefined && failure.request?.message !== text.trim()
  useLayoutEffect(() => {
    if (isEdited) removeOutgoing(session)
  }, [isEdited, session])
  useEffect(() => {
    if (!interrupted) return
    retry()
    if (!(interrupted.turn_id in turns)) return
    setText(typed => (typed.trim() === interrupted.message ? '' : typed))
    setInterrupted(undefined)
  }, [interrupted, session, retry, turns, setText])
  useEffect(() => {
    if (hasTurns) markStarted(session)
  }, [session, hasTurns])

  const post = async (request: ChatRequest, isTyped: boolean): Promise<void> => {
    setFailure(undefined)
    setSent(request)
    if (isTyped) {
      setText(typed => (typed.trim() === request.message ? '' : typed))
      saveOutgoing(session, request)
    }
    try {
      await client.chat(request)
      removeOutgoing(session)
    } catch (error) {
      setSent(undefined)
      // Text typed in the meantime stays.
      if (isTyped) setText(typed => (typed === '' ? request.message : typed))
      setFailure({ error, request, retry: () => void post(request, isTyped) })
    }
    retry()
  }
  const begin = (request: Omit<ChatRequest, 'turn_id'>, isTyped: boolean): void => {
    if (outgoing) return
    // The same request again keeps its turn id: if the first one arrived after all, the server starts no second turn.
    const before = failure?.request ?? interrupted
    const isSame = before && JSON.stringify({ ...before, turn_id: '' }) === JSON.stringify({ ...request, turn_id: '' })
    void post(isSame ? before : { ...request, turn_id: `turn-${randomId()}` }, isTyped)
  }
  return {
    text,
    setText,
    outgoing,
    failure,
    setFailure,
    sendTyped: message => begin({ session_id: session, message, ...choices }, true),
    send: (message, more = {}) => begin({ session_id: session, message, ...choices, ...more }, false),
  }
}

/** The text in the message box; a reload brings it back. */
function useSavedText(
  session: string,
  initial: string | undefined,
): readonly [string, Dispatch<SetStateAction<string>>] {
  const key = `runsheet.typed.${session}`
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? initial ?? '')
  useLayoutEffect(() => {
    if (text === '') sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  }, [key, text])
  return [text, setText]
}

const outgoingKey = (session: string): string => `runsheet.sending.${session}`
const saveOutgoing = (session: string, request: ChatRequest): void =>
  sessionStorage.setItem(outgoingKey(session), JSON.stringify(request))
const removeOutgoing = (session: string): void => sessionStorage.removeItem(outgoingKey(session))

function loadOutgoing(session: string): ChatRequest | undefined {
  const saved = sessionStorage.getItem(outgoingKey(session))
  return saved === null ? undefined : (JSON.parse(saved) as ChatRequest)
}
