import { type Dispatch, type SetStateAction, useEffect, useLayoutEffect, useState } from 'react'
import { type ChatRequest, type Client, type LiveState, randomId, RunsheetError } from 'runsheet/client'
import type { ConversationView } from 'runsheet/react'
import { markStarted } from './new-sessions.ts'

/** A message on its way: it starts a turn, or `steers` the one at work. */
export interface Outgoing extends ChatRequest {
  /** The messages with the same text that there were before it. */
  readonly steers?: readonly string[]
  /** What the server has answered, if it has. */
  readonly seq?: number
}

export interface Failure {
  readonly error: unknown
  /** The message that failed to send, if it was one. */
  readonly request?: Outgoing
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
  readonly send: (message: string, more?: Pick<ChatRequest, 'continue_turn_id'>) => void
}

/**
 * Sends messages: shown at once, and never lost or sent twice. While a turn runs, or messages wait, they join those that
 * wait. `choices` are added to every message that starts a turn.
 */
export function useSend(
  client: Client,
  session: string,
  { state, retry }: ConversationView,
  choices: Partial<ChatRequest>,
): Sending {
  // A message that was being sent when the page was left.
  const [interrupted, setInterrupted] = useState(() => loadOutgoing(session))
  const [text, setText] = useSavedText(session, interrupted?.message)
  const [sent, setSent] = useState<Outgoing>()
  const [failure, setFailure] = useState<Failure>()
  const { turns, queued, running_turn } = state.conversation
  const hasTurns = Object.keys(turns).length > 0
  const outgoing = sent && !isKnown(sent, state) ? sent : undefined
  // Only the answer was lost: the log has the message.
  const hasArrived = failure?.request !== undefined && isKnown(failure.request, state)
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
    if (!isKnown(interrupted, state)) return
    setText(typed => (typed.trim() === interrupted.message ? '' : typed))
    setInterrupted(undefined)
  }, [interrupted, session, retry, state, setText])
  useEffect(() => {
    if (hasTurns) markStarted(session)
  }, [session, hasTurns])

  const post = async (request: Outgoing, isTyped: boolean): Promise<void> => {
    setFailure(undefined)
    setSent(request)
    if (isTyped) {
      setText(typed => (typed.trim() === request.message ? '' : typed))
      saveOutgoing(session, request)
    }
    try {
      const { steers, seq: _, ...chat } = request
      // The key makes a repeated request harmless, as the id of the turn does.
      if (steers) setSent({ ...request, seq: (await client.sendMessage(session, chat.message, chat.turn_id)).seq })
      else await client.chat(chat)
      removeOutgoing(session)
    } catch (error) {
      // Another window was faster: the agent is at work.
      if (!request.steers && error instanceof RunsheetError && error.code === 'turn_running') {
        return post({ ...request, steers: idsOf(request.message, state) }, isTyped)
      }
      setSent(undefined)
      // Text typed in the meantime stays.
      if (isTyped) setText(typed => (typed === '' ? request.message : typed))
      setFailure({ error, request, retry: () => void post(request, isTyped) })
    }
    retry()
  }
  const begin = (request: Omit<ChatRequest, 'turn_id'>, isTyped: boolean): void => {
    if (outgoing) return
    const joins = running_turn !== null || queued.length > 0
    const wanted = joins
      ? { session_id: session, message: request.message, steers: idsOf(request.message, state) }
      : request
    // The same request again keeps its turn id: if the first one arrived after all, the server starts no second turn.
    const before = failure?.request ?? interrupted
    void post(before && isSame(before, wanted) ? before : { ...wanted, turn_id: `turn-${randomId()}` }, isTyped)
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

/** Whether the log has it. */
function isKnown({ turn_id, message, steers, seq }: Outgoing, state: LiveState): boolean {
  if (!steers) return turn_id in state.conversation.turns
  if (seq !== undefined) return state.conversation.seq >= seq
  return idsOf(message, state).some(id => !steers.includes(id))
}

/** The messages of a person with this text. */
const idsOf = (text: string, { messages, conversation }: LiveState): string[] => [
  ...messages.filter(each => each.role === 'user' && each.text === text).map(({ message_id }) => message_id),
  ...conversation.queued.filter(each => each.text === text).map(({ message_id }) => message_id),
]

function isSame(before: Outgoing, request: Omit<Outgoing, 'turn_id'>): boolean {
  const bare = (each: Omit<Outgoing, 'turn_id'>): string =>
    JSON.stringify({ ...each, turn_id: '', steers: each.steers !== undefined })
  return bare(before) === bare(request)
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
const saveOutgoing = (session: string, request: Outgoing): void =>
  sessionStorage.setItem(outgoingKey(session), JSON.stringify(request))
const removeOutgoing = (session: string): void => sessionStorage.removeItem(outgoingKey(session))

function loadOutgoing(session: string): Outgoing | undefined {
  const saved = sessionStorage.getItem(outgoingKey(session))
  return saved === null ? undefined : (JSON.parse(saved) as Outgoing)
}
