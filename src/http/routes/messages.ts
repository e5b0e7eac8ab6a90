import * as z from 'zod'
import type { Conversation } from '../../domain/conversation.ts'
import type { StoredEvent } from '../../domain/event.ts'
import type { QueuedMessage } from '../../domain/queue.ts'
import type { QueuedMessageAnswer, SentMessageAnswer, SentNowAnswer } from '../../domain/wire.ts'
import { onQueued } from '../../door/door.ts'
import { idempotencyKey, ifMatch, onceFor, versionIn } from '../preconditions.ts'
import { type Answer, route } from '../route.ts'
import * as s from '../schemas.ts'
import { shape } from '../shapes.ts'
import { known } from './sessions.ts'

const ofSession = z.object({ session_id: s.id })
const ofMessage = ofSession.extend({ message_id: s.id })

const NOT_QUEUED = {
  description: '`message_delivered`: the agent has it; `message_withdrawn`: it was taken back',
}
const CHANGED = {
  description: '`message_changed`: it was edited meanwhile; `error.queued` is how it is now',
}
const NO_VERSION = { description: '`If-Match` is missing' }

export const messageRoutes = [
  route({
    method: 'post',
    path: '/api/sessions/:session_id/messages',
    operationId: 'sendMessage',
    tag: 'Turns',
    role: 'person',
    summary: 'Writes to the agent at work; without a running turn, starts one that continues the latest',
    params: ofSession,
    headers: idempotencyKey,
    body: s.sentMessage,
    answers: {
      201: { description: 'The message, which waits for the next model call', schema: shape('SentMessageAnswer') },
      409: { description: '`too_many_queued`, or `no_own_turn`: start one with `POST /api/chat`' },
    },
    handle: async ({ params, body, caller, header }, { door, turns }) => {
      const ref = { tenant: caller.tenant, conversation: params.session_id }
      await known(door, ref)
      const message_id = door.newId()
      const next = { turn_id: door.newId() }
      const { value, replayed } = await door.transact({ ...ref, once: onceFor(header, body) }, transaction => {
        const events = transaction.mustRun({ type: 'queue_message', message_id, text: body.text, next })
        const message = { message_id, text: body.text, version: 1, queued_at: transaction.now }
        return { message, ...joined(transaction.state, events) } satisfies SentMessageAnswer
      })
      if (value.started && !replayed) turns?.take(ref, value.turn_id)
      return answered(value, 201)
    },
  }),
  route({
    method: 'patch',
    path: '/api/sessions/:session_id/messages/:message_id',
    operationId: 'editMessage',
    tag: 'Turns',
    role: 'person',
    summary: 'Edits a message that waits',
    params: ofMessage,
    headers: ifMatch,
    body: s.sentMessage,
    answers: {
      200: { description: 'The message', schema: shape('QueuedMessageAnswer') },
      409: NOT_QUEUED,
      412: CHANGED,
      428: NO_VERSION,
    },
    handle: async ({ params: { session_id, message_id }, body, caller, header }, { door }) => {
      const ref = { tenant: caller.tenant, conversation: session_id }
      const command = {
        type: 'edit_queued',
        message_id,
        text: body.text,
        if_version: versionIn(header, 'message'),
      } as const
      const { value } = await onQueued(door, ref, message_id, transaction => {
        transaction.mustRun(command)
        return { message: queuedIn(transaction.state, message_id), seq: transaction.state.seq }
      })
      return answered(value)
    },
  }),
  route({
    method: 'delete',
    path: '/api/sessions/:session_id/messages/:message_id',
    operationId: 'withdrawMessage',
    tag: 'Turns',
    role: 'person',
    summary: 'Takes back a message that waits',
    params: ofMessage,
    headers: ifMatch,
    answers: {
      200: { description: 'The message as it was', schema: shape('QueuedMessageAnswer') },
      409: NOT_QUEUED,
      412: CHANGED,
      428: NO_VERSION,
    },
    handle: async ({ params: { session_id, message_id }, caller, header }, { door }) => {
      const ref = { tenant: caller.tenant, conversation: session_id }
      const command = { type: 'withdraw_queued', message_id, if_version: versionIn(header, 'message') } as const
      const { value } = await onQueued(door, ref, message_id, transaction => {
        const before = transaction.state
        transaction.mustRun(command)
        return { message: queuedIn(before, message_id), seq: transaction.state.seq }
      })
      return answered(value)
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/:session_id/messages/:message_id/send',
    operationId: 'sendMessageNow',
    tag: 'Turns',
    role: 'person',
    summary: 'Sends what waits now: stops the running turn, whose end starts one with it',
    params: ofMessage,
    answers: {
      200: { description: 'The turn that stops for it, or that was started with it', schema: shape('SentNowAnswer') },
      409: NOT_QUEUED,
    },
    handle: async ({ params: { session_id, message_id }, caller }, { door, turns }) => {
      const ref = { tenant: caller.tenant, conversation: session_id }
      const next = { turn_id: door.newId() }
      const { value } = await onQueued(door, ref, message_id, transaction => {
        const events = transaction.mustRun({ type: 'send_queued', message_id, next })
        return joined(transaction.state, events)
      })
      if (value.started) turns?.take(ref, value.turn_id)
      return { body: value }
    },
  }),
]

/** The running turn, and whether these events started it. */
function joined({ running_turn, seq }: Conversation, events: readonly StoredEvent[]): SentNowAnswer {
  if (running_turn === null) throw new TypeError('no turn is running')
  const isStarted = events.some(({ type }) => type === 'turn_started')
  return { turn_id: running_turn, ...(isStarted ? { started: true } : {}), seq }
}

function queuedIn({ queued }: Conversation, id: string): QueuedMessage {
  const message = queued.find(({ message_id }) => message_id === id)
  if (!message) throw new TypeError('the message does not wait')
  return message
}

const answered = (body: QueuedMessageAnswer, status = 200): Answer => ({
  status,
  body,
  headers: { etag: `"${body.message.version}"` },
})
