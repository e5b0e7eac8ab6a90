import type { EventType, Json, StoredEvent } from './event.ts'
import type { Instant } from './instant.ts'

/** One thing that was said, by a person, the assistant, or the system on its behalf. */
export interface Message {
  readonly message_id: string
  readonly turn_id: string | null
  readonly role: 'user' | 'assistant' | 'system'
  readonly text: string
  readonly synthetic?: boolean
  /** What the assistant called along with it. */
  readonly tool_calls?: readonly Json[]
  readonly created_at: Instant
}

/** The types of events that a transcript is made of. */
export const SPOKEN: readonly EventType[] = ['turn_started', 'message_added', 'step_finished']

/** The transcript after one more event; a message that comes again is the newer one, in its old place. */
export function withSpoken(transcript: readonly Message[], event: StoredEvent): readonly Message[] {
  const message = messageIn(event)
  if (!message) return transcript
  const place = transcript.findLastIndex(({ message_id }) => message_id === message.message_id)
  return place < 0 ? [...transcript, message] : transcript.with(place, { ...transcript[place], ...message })
}

export function transcriptOf(events: readonly StoredEvent[]): readonly Message[] {
  const messages = new Map<string, Message>()
  for (const event of events) {
    const message = messageIn(event)
    if (message) messages.set(message.message_id, { ...messages.get(message.message_id), ...message })
  }
  return [...messages.values()]
}

function messageIn({ type, data, turn_id, timestamp: created_at }: StoredEvent): Message | undefined {
  switch (type) {
    case 'turn_started':
      return { message_id: data.message_id, turn_id, role: 'user', text: data.message, created_at }
    case 'message_added': {
      const { message_id, role, text, synthetic } = data
      return { message_id, turn_id, role, text, ...(synthetic === undefined ? {} : { synthetic }), created_at }
    }
    case 'step_finished': {
      const { message_id, text, tool_calls } = data
      return { message_id, turn_id, role: 'assistant', text, tool_calls, created_at }
    }
    default:
      return undefined
  }
}
