import type { ModelMessage } from 'ai'
import type { Json, StoredEvent } from '../domain/event.ts'
import { type Handlers, dispatch, typesOf } from '../domain/projection.ts'

/**
 * The log as messages for a model: of earlier turns the last `limit` messages, whole turns only, so that no tool call
 * is without its answer; of this turn everything.
 */
export function historyOf(events: readonly StoredEvent[], turn: string, limit: number): ModelMessage[] {
  const own = events.filter(({ turn_id }) => turn_id === turn)
  const earlier = events.filter(({ turn_id }) => turn_id !== turn)
  return [...earlierMessages(earlier, limit), ...messagesOf(own)]
}

export function earlierMessages(events: readonly StoredEvent[], limit: number): ModelMessage[] {
  const turns = [...Map.groupBy(events, ({ turn_id }) => turn_id ?? '').values()]
  const earlier: ModelMessage[] = []
  for (const told of turns.toReversed()) {
    const messages = messagesOf(told)
    if (earlier.length + messages.length > limit) {
      return earlier.length === 0 ? endOf(messages, limit) : earlier
    }
    earlier.unshift(...messages)
  }
  return earlier
}

/** A turn that is longer than the limit by itself: what was asked, and its end from a step's start. */
function endOf(messages: readonly ModelMessage[], limit: number): ModelMessage[] {
  const [request, ...rest] = messages
  if (!request || limit < 2) return []
  const end = rest.slice(1 - limit)
  const start = end.findIndex(({ role }) => role !== 'tool')
  return start < 0 ? [request] : [request, ...end.slice(start)]
}

export function messagesOf(events: readonly StoredEvent[]): ModelMessage[] {
  const answered = new Set(events.flatMap(event => (event.type === 'tool_answered' ? [event.data.tool_call_id] : [])))
  const telling: Telling = { messages: [], steps: new Map(), called: new Set(), answered }
  for (const event of events) dispatch(TELL, telling, event, undefined)
  return telling.messages.filter(({ content }) => content.length > 0)
}

/** What was told so far. */
interface Telling {
  readonly messages: ModelMessage[]
  /** Message id of each step to its place. */
  readonly steps: Map<string, number>
  readonly called: Set<string>
  readonly answered: ReadonlySet<string>
}

const TELL: Handlers<Telling, void> = {
  turn_started: ({ messages }, { data }) => void messages.push({ role: 'user', content: data.message }),
  step_finished: ({ messages, steps, called, answered }, { data }) => {
    steps.set(data.message_id, messages.length)
    for (const call of data.tool_calls) called.add(call.tool_call_id)
    messages.push(assistant(data.parts, data.text, answered))
  },
  tool_answered: ({ messages, called }, { data }) => {
    const { tool_call_id: toolCallId, tool: toolName, result } = data
    // An agent elsewhere made it, in a turn of its own.
    if (!called.has(toolCallId)) return
    messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: output(result) }] })
  },
  message_added: ({ messages, steps }, { data }) => {
    const { message_id, role, text } = data
    const place = steps.get(message_id)
    // The last word on a step that was told already.
    if (place !== undefined) messages[place] = { role: 'assistant', content: text }
    else if (role !== 'system') messages.push({ role, content: text })
  },
}

/** The types of events that a model is told of. */
export const TOLD = typesOf(TELL)

type Parts = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>

/** What the model said and called, in its own parts; calls that were never answered are left out. */
function assistant(parts: Json | undefined, text: string, answered: ReadonlySet<string>): ModelMessage {
  if (!isParts(parts)) return { role: 'assistant', content: text }
  const content = parts.filter(part => part.type !== 'tool-call' || answered.has(part.toolCallId))
  return { role: 'assistant', content }
}

const isParts = (parts: unknown): parts is Parts => Array.isArray(parts)

function output(result: Json): { type: 'text'; value: string } | { type: 'json'; value: never } {
  return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result as never }
}
