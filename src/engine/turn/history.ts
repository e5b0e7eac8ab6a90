import type { ModelMessage } from 'ai'
import type { EventData, Json, StoredEvent } from '../../core/model/event.ts'
import { type Handlers, dispatch, typesOf } from '../../core/model/projection.ts'
import { ownWords } from '../../core/views/transcript.ts'
import { keyOf, type Rooms, roomsFor, shrunkInput, shrunkResult, shrunkText } from '../worker/shrink.ts'

/** Messages for a model: the last `limit` of earlier turns, then those of this turn. */
export function historyOf(earlier: readonly StoredEvent[], own: readonly StoredEvent[], limit: number): ModelMessage[] {
  const rooms = roomsFor([...earlier, ...own])
  const messages = messagesOf(own, rooms)
  return [...earlierMessages(earlier, messages, limit, rooms), ...messages]
}

/** Whole turns only: every tool call needs its answer. */
function earlierMessages(
  events: readonly StoredEvent[],
  own: readonly ModelMessage[],
  limit: number,
  rooms: Rooms,
): ModelMessage[] {
  const turns = [...Map.groupBy(events, ({ turn_id }) => turn_id ?? '').values()]
  const earlier: ModelMessage[] = []
  let next = own
  for (const turn of turns.toReversed()) {
    const messages = messagesOf(turn, rooms)
    if (isRetried(messages, next)) continue
    next = messages
    if (earlier.length + messages.length > limit) {
      return earlier.length === 0 ? endOf(messages, limit) : earlier
    }
    earlier.unshift(...messages)
  }
  return earlier
}

/** Whether a turn produced nothing and the next one repeats its request. */
const isRetried = ([request, ...rest]: readonly ModelMessage[], [next]: readonly ModelMessage[]): boolean =>
  rest.length === 0 && (request === undefined || request.content === next?.content)

/** A turn beyond the limit: its request and its last whole steps. */
function endOf(messages: readonly ModelMessage[], limit: number): ModelMessage[] {
  const [request, ...rest] = messages
  if (!request || limit < 2) return []
  const end = rest.slice(1 - limit)
  const start = end.findIndex(({ role }) => role !== 'tool')
  return start < 0 ? [request] : [request, ...end.slice(start)]
}

function messagesOf(events: readonly StoredEvent[], rooms: Rooms): ModelMessage[] {
  const answered = new Set(events.flatMap(event => (event.type === 'tool_answered' ? [event.data.tool_call_id] : [])))
  const history: History = { messages: [], steps: new Map(), called: new Set(), answered, rooms }
  for (const event of events) dispatch(HANDLERS, history, event, undefined)
  return history.messages.filter(({ content }) => content.length > 0)
}

interface History {
  readonly messages: ModelMessage[]
  /** Maps a step's message id to its index in `messages`. */
  readonly steps: Map<string, number>
  readonly called: Set<string>
  readonly answered: ReadonlySet<string>
  readonly rooms: Rooms
}

const HANDLERS: Handlers<History, void> = {
  turn_started: ({ messages }, { data }) => void messages.push({ role: 'user', content: data.message }),
  step_finished: ({ messages, steps, called, answered, rooms }, { turn_id, data }) => {
    steps.set(data.message_id, messages.length)
    for (const call of data.tool_calls) called.add(call.tool_call_id)
    messages.push(assistant(turn_id, data, answered, rooms))
  },
  tool_answered: ({ messages, called, rooms }, { turn_id, data }) => {
    const { tool_call_id: toolCallId, tool: toolName } = data
    // Calls of agents elsewhere belong to no step.
    if (!called.has(toolCallId)) return
    const result = shrunkResult(data, rooms.get(keyOf('result', turn_id, toolCallId)))
    messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: output(result) }] })
  },
  message_added: ({ messages, steps, rooms }, { turn_id, data }) => {
    const { message_id, role } = data
    const text = ownWords(data)
    const place = steps.get(message_id)
    const content = role === 'assistant' ? shrunkText(text, rooms.get(keyOf('text', turn_id, message_id))) : text
    // The final message replaces the text of its step.
    if (place !== undefined) messages[place] = { role: 'assistant', content }
    else if (role !== 'system') messages.push({ role, content })
  },
}

export const HISTORY_TYPES = typesOf(HANDLERS)

type Parts = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>

/** A step in the provider's own format, without calls that were never answered. */
function assistant(
  turn: string | null,
  { message_id, text, parts }: EventData['step_finished'],
  answered: ReadonlySet<string>,
  rooms: Rooms,
): ModelMessage {
  const room = rooms.get(keyOf('text', turn, message_id))
  if (!isParts(parts)) return { role: 'assistant', content: shrunkText(text, room) }
  const content = parts.flatMap((part): Parts => {
    if (part.type !== 'tool-call') return [part]
    const input = shrunkInput(part.input as Json, rooms.get(keyOf('input', turn, part.toolCallId)))
    return answered.has(part.toolCallId) ? [{ ...part, input }] : []
  })
  return { role: 'assistant', content: room === undefined ? content : withoutProse(content, shrunkText(text, room)) }
}

/** Replaces all texts with one. Reasoning is dropped: it may be signed, and cannot be cut. */
function withoutProse(parts: Parts, text: string): Parts {
  const others = parts.filter(({ type }) => type !== 'text' && type !== 'reasoning')
  return text === '' ? others : [{ type: 'text', text }, ...others]
}

const isParts = (parts: unknown): parts is Parts => Array.isArray(parts)

function output(result: Json): { type: 'text'; value: string } | { type: 'json'; value: never } {
  return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result as never }
}
