import type { ModelMessage } from 'ai'
import type { EventType, Json, StoredEvent } from '../domain/event.ts'
import type { StoredCall } from './run.ts'

/** What a model is told of a conversation is made of these. */
export const TOLD: readonly EventType[] = ['turn_started', 'step_finished', 'tool_answered', 'message_added']

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
  const messages: ModelMessage[] = []
  const steps = new Map<string, number>()
  const called = new Set<string>()
  const answered = new Set(events.flatMap(event => (event.type === 'tool_answered' ? [event.data.tool_call_id] : [])))
  for (const event of events) {
    switch (event.type) {
      case 'turn_started':
        messages.push({ role: 'user', content: event.data.message })
        break
      case 'step_finished': {
        steps.set(event.data.message_id, messages.length)
        for (const call of event.data.tool_calls as unknown as readonly StoredCall[]) called.add(call.tool_call_id)
        messages.push(assistant(event.data.parts, event.data.text, answered))
        break
      }
      case 'tool_answered': {
        const { tool_call_id: toolCallId, tool: toolName, result } = event.data
        // An agent elsewhere made it, in a turn of its own.
        if (!called.has(toolCallId)) break
        messages.push({
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId, toolName, output: output(result) }],
        })
        break
      }
      case 'message_added': {
        const { message_id, role, text } = event.data
        const place = steps.get(message_id)
        // The last word on a step that was told already.
        if (place !== undefined) messages[place] = { role: 'assistant', content: text }
        else if (role !== 'system') messages.push({ role, content: text })
        break
      }
      default:
    }
  }
  return messages.filter(({ content }) => content.length > 0)
}

type Parts = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>

/** What the model said and called, in its own parts; calls that were never answered are left out. */
function assistant(parts: Json | undefined, text: string, answered: ReadonlySet<string>): ModelMessage {
  if (!Array.isArray(parts)) return { role: 'assistant', content: text }
  const content = (parts as unknown as Parts).filter(part => part.type !== 'tool-call' || answered.has(part.toolCallId))
  return { role: 'assistant', content }
}

function output(result: Json): { type: 'text'; value: string } | { type: 'json'; value: never } {
  return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result as never }
}
