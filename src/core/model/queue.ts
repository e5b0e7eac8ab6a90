import type { Conversation } from './conversation.ts'
import type { StoredEvent } from './event.ts'
import type { Instant } from './instant.ts'
import type { Handlers } from './log.ts'
import { changeTurn } from '../proof/proof-log.ts'

/** A message to the working agent that has not been delivered. */
export interface QueuedMessage {
  readonly message_id: string
  readonly text: string
  /** Increases with each edit; send it as If-Match. */
  readonly version: number
  readonly queued_at: Instant
}

/** The reducers of the queue. A `message_added` or `turn_started` with the id of the message delivers it. */
export const QUEUE_REDUCERS = {
  message_queued: ({ queued }, { data: { message_id, text }, timestamp: queued_at }) => ({
    queued: [...queued, { message_id, text, version: 1, queued_at }],
  }),
  queued_message_edited: ({ queued }, { data: { message_id, text, version } }) => ({
    queued: queued.map(message => (message.message_id === message_id ? { ...message, text, version } : message)),
  }),
  queued_message_withdrawn: (state, { data }) => withoutQueued(state, data.message_id),
  queue_released: (state, { data: { turn_id } }) => changeTurn(state, turn_id, { releases_queue: true }),
} satisfies Handlers<Conversation, Partial<Conversation>>

export const withoutQueued = ({ queued }: Conversation, messageId: string): Pick<Conversation, 'queued'> => ({
  queued: queued.filter(({ message_id }) => message_id !== messageId),
})

/** The events that end a message's wait in the queue, or begin it. */
export const FATE_TYPES = ['turn_started', 'message_queued', 'queued_message_withdrawn'] as const

/** The fate of a message that is no longer queued; undefined if there was none with this id. */
export function fateOf(events: readonly StoredEvent[], messageId: string): 'delivered' | 'withdrawn' | undefined {
  const own = events.filter(({ data }) => 'message_id' in data && data.message_id === messageId)
  if (own.some(({ type }) => type === 'queued_message_withdrawn')) return 'withdrawn'
  return own.length > 0 ? 'delivered' : undefined
}
