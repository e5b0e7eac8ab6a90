import type { Cut, Json, StoredEvent, ToolCallRecord } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { projection } from '../model/log.ts'
import type { ApprovalDecision } from '../model/tool-approval.ts'

/** One message of the chat. `synthetic` ones were written by the system on the user's behalf. */
export interface Message {
  readonly message_id: string
  readonly turn_id: string | null
  /** The author. */
  readonly role: 'user' | 'assistant' | 'system'
  readonly text: string
  /** Written by the server, not by a person. */
  readonly synthetic?: boolean
  /** The length of the agent's own text; the rest says that it was cut, or how the turn ended. */
  readonly answer_length?: number
  readonly cut?: Cut
  /** The tool calls of the assistant's step. */
  readonly tool_calls?: readonly MessageCall[]
  readonly created_at: Instant
}

/** The text of a message without the notes that Runsheet added: that it was cut, or how the turn ended. */
export const ownWords = ({ text, answer_length }: Pick<Message, 'text' | 'answer_length'>): string =>
  text.slice(0, answer_length)

/** A tool call of a message, with its answer. */
export interface MessageCall extends ToolCallRecord {
  /** Absent while the call has no answer. */
  readonly answer?: CallAnswer
  /** `waiting` for a person, or the person's decision; absent if no approval was needed. */
  readonly approval?: 'waiting' | ApprovalDecision
  readonly approval_id?: string
  /** Its turn ended without an answer, so its outcome is unknown. */
  readonly unanswered?: true
}

/** A tool's answer, truncated for lists. The event at `seq` has all of it. */
export interface CallAnswer {
  readonly ok: boolean
  readonly duration_ms: number
  readonly result: Json
  /** `result` is only the start. */
  readonly is_cut?: true
  /** The event that has the whole result. */
  readonly seq: number
}

type Messages = readonly Message[]

/** Longer results are truncated, so that a long conversation loads fast. */
const MAX_RESULT_CHARACTERS = 2_000

export const transcript = projection<Messages>({
  initial: [],
  on: {
    turn_started: (messages, { data, turn_id, timestamp: created_at }) =>
      withMessage(messages, { message_id: data.message_id, turn_id, role: 'user', text: data.message, created_at }),
    message_added: (messages, { data, turn_id, timestamp: created_at }) =>
      withMessage(messages, { ...data, turn_id, created_at }),
    step_finished: (messages, { data, turn_id, timestamp: created_at }) => {
      const { message_id, text, tool_calls, cut, answer_length } = data
      const written = {
        ...(cut === undefined ? {} : { cut }),
        ...(answer_length === undefined ? {} : { answer_length }),
      }
      return withMessage(messages, { message_id, turn_id, role: 'assistant', text, ...written, tool_calls, created_at })
    },
    tool_answered: withAnswer,
    tool_approval_required: (messages, { turn_id, data }) =>
      withCall(messages, turn_id, isCall(data.tool_call_id), { approval: 'waiting', approval_id: data.approval_id }),
    tool_approval_resolved: (messages, { turn_id, data }) =>
      withCall(messages, turn_id, ({ approval_id }) => approval_id === data.approval_id, { approval: data.decision }),
    turn_finished: (messages, { turn_id }) =>
      messages.map(message =>
        message.turn_id === turn_id && message.tool_calls?.some(isUnanswered) ? withoutAnswers(message) : message,
      ),
  },
})

/** A message with a known id replaces the older one in place. */
function withMessage(messages: Messages, message: Message): Messages {
  const place = placeInTurn(messages, message.turn_id, ({ message_id }) => message_id === message.message_id)
  return place === undefined ? [...messages, message] : messages.with(place, { ...messages[place], ...message })
}

function withAnswer(messages: Messages, { turn_id, data, seq }: StoredEvent<'tool_answered'>): Messages {
  const { tool_call_id, ok, duration_ms, result } = data
  return withCall(messages, turn_id, isCall(tool_call_id), { answer: { ok, duration_ms, ...shortened(result), seq } })
}

const isUnanswered = ({ answer, approval }: MessageCall): boolean => answer === undefined && approval !== 'deny'

const withoutAnswers = (message: Message): Message => ({
  ...message,
  tool_calls: (message.tool_calls ?? []).map(call => (isUnanswered(call) ? { ...call, unanswered: true } : call)),
})

const isCall =
  (id: string) =>
  (call: MessageCall): boolean =>
    call.tool_call_id === id

function withCall(
  messages: Messages,
  turn: string | null,
  fits: (call: MessageCall) => boolean,
  change: Partial<MessageCall>,
): Messages {
  const place = placeInTurn(messages, turn, ({ tool_calls = [] }) => tool_calls.some(fits))
  const message = place === undefined ? undefined : messages[place]
  if (place === undefined || !message?.tool_calls) return messages
  const tool_calls = message.tool_calls.map(call => (fits(call) ? { ...call, ...change } : call))
  return messages.with(place, { ...message, tool_calls })
}

/** Searches only the newest turn: older ones no longer change. */
function placeInTurn(messages: Messages, turn: string | null, fits: (message: Message) => boolean): number | undefined {
  for (let place = messages.length - 1; place >= 0; place -= 1) {
    const message = messages[place]
    if (message?.turn_id !== turn) return undefined
    if (fits(message)) return place
  }
  return undefined
}

function shortened(result: Json): Pick<CallAnswer, 'result' | 'is_cut'> {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  if (text.length <= MAX_RESULT_CHARACTERS) return { result }
  return { result: text.slice(0, MAX_RESULT_CHARACTERS).toWellFormed(), is_cut: true }
}
