import { type Dispatch, type SetStateAction, useEffect, useState } from 'react'
import type { ChatRequest, Client } from '../src/client/index.ts'
import type { ConversationView } from '../src/react/index.ts'
import { newId, spokenIn } from './fresh.ts'

export interface Trouble {
  readonly error: unknown
  /** What did not get through, if it was a message. */
  readonly request?: ChatRequest
  readonly again: () => void
}

export interface Sending {
  /** What is typed and not sent. */
  readonly text: string
  readonly onText: (text: string) => void
  /** What is on its way, until the log has it. */
  readonly outgoing: ChatRequest | undefined
  readonly trouble: Trouble | undefined
  readonly setTrouble: (trouble: Trouble | undefined) => void
  /** What a person has typed, or chosen to try: it is back in the box if it does not get through. */
  readonly sendTyped: (message: string) => void
  /** What a button says on a person's behalf. */
  readonly send: (message: string, more?: Pick<ChatRequest, 'continue_turn_id'>) => void
}

/** A message on its way: seen at once, and not lost. `choices` go along with it. */
export function useSend(
  client: Client,
  session: string,
  { state, retry }: ConversationView,
  choices: Partial<ChatRequest>,
): Sending {
  // What a page that was left in the middle had on its way.
  const [left, setLeft] = useState(() => leftOnItsWay(session))
  const [text, setText] = useTyped(session, left?.message)
  const [sent, setSent] = useState<ChatRequest>()
  const [trouble, setTrouble] = useState<Trouble>()
  const { turns } = state.conversation
  const turnCount = Object.keys(turns).length
  const outgoing = sent && !(sent.turn_id in turns) ? sent : undefined
  // The answer was lost, and the message was not: the log has it.
  const hasArrived = trouble?.request !== undefined && trouble.request.turn_id in turns
  useEffect(() => {
    if (!hasArrived) return
    setText(typed => (typed.trim() === trouble.request?.message ? '' : typed))
    setTrouble(undefined)
  }, [hasArrived, trouble, setText])
  useEffect(() => {
    if (!left) return
    letGo(session)
    retry()
    if (!(left.turn_id in turns)) return
    setText(typed => (typed.trim() === left.message ? '' : typed))
    setLeft(undefined)
  }, [left, session, retry, turns, setText])
  // It is back in the box by now. Whoever has gone elsewhere, or reloads, finds it there when they are back.
  useEffect(() => {
    if (trouble) letGo(session)
  }, [trouble, session])
  useEffect(() => {
    if (turnCount > 0) spokenIn(session)
  }, [session, turnCount])

  const post = async (request: ChatRequest, isTyped: boolean): Promise<void> => {
    setTrouble(undefined)
    setSent(request)
    if (isTyped) {
      setText(typed => (typed.trim() === request.message ? '' : typed))
      putOnItsWay(session, request)
    }
    try {
      await client.chat(request)
      letGo(session)
    } catch (error) {
      setSent(undefined)
      // Whoever typed on in the meantime keeps that.
      if (isTyped) setText(typed => (typed === '' ? request.message : typed))
      setTrouble({ error, request, again: () => void post(request, isTyped) })
    }
    retry()
  }
  const begin = (request: Omit<ChatRequest, 'turn_id'>, isTyped: boolean): void => {
    if (outgoing) return
    // The same again is the same turn: if it came through after all, it is not begun twice.
    const before = trouble?.request ?? left
    const isSame = before && JSON.stringify({ ...before, turn_id: '' }) === JSON.stringify({ ...request, turn_id: '' })
    void post(isSame ? before : { ...request, turn_id: newId('turn') }, isTyped)
  }
  return {
    text,
    onText: setText,
    outgoing,
    trouble,
    setTrouble,
    sendTyped: message => begin({ session_id: session, message, ...choices }, true),
    send: (message, more = {}) => begin({ session_id: session, message, ...choices, ...more }, false),
  }
}

/** What is typed in a conversation survives a reload. */
function useTyped(session: string, left: string | undefined): readonly [string, Dispatch<SetStateAction<string>>] {
  const key = `runsheet.typed.${session}`
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? left ?? '')
  useEffect(() => {
    if (text === '') sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  }, [key, text])
  return [text, setText]
}

const wayOf = (session: string): string => `runsheet.sending.${session}`
const putOnItsWay = (session: string, request: ChatRequest): void =>
  sessionStorage.setItem(wayOf(session), JSON.stringify(request))
const letGo = (session: string): void => sessionStorage.removeItem(wayOf(session))

function leftOnItsWay(session: string): ChatRequest | undefined {
  const kept = sessionStorage.getItem(wayOf(session))
  return kept === null ? undefined : (JSON.parse(kept) as ChatRequest)
}
