import * as z from 'zod'
import type { TurnStart } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { Refusal, invalidField } from '../../core/model/refusal.ts'
import type { QueuedMessageAnswer, SentMessageAnswer, SentNowAnswer } from '../../core/views/wire.ts'
import { StoreError, hashOf, onQueued, type Door } from '../../engine/door/door.ts'
import { HttpError } from '../http/replies.ts'
import { ifMatch, onceFor, versionIn } from '../http/requests.ts'
import { route, routes, type Answer, type Call, type Deps, type Turns } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'
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

const sentStart = z.strictObject({
  model: z.string().optional(),
  toolset: s.toolset.optional(),
  review: z.boolean().optional(),
  assessor: z.boolean().optional(),
  gate: z.boolean().optional(),
  continue_turn_id: s.id.optional(),
})

export const chatRoutes = routes('Turns', {
  startTurn: route('post', '/api/chat', 'person', {
    summary: 'Starts a turn and streams its events until it ends; the same request again attaches to it',
    body: z.strictObject({
      session_id: s.id,
      turn_id: s.id,
      // No schema limit: only the body limit applies.
      message: z.string().min(1).meta({ description: 'what the agent should do' }),
      ...sentStart.shape,
    }),
    answers: {
      200: {
        description: 'Server-sent events, from `turn_started` to `turn_finished`',
        type: 'text/event-stream',
        message: shape('StreamedEvent'),
      },
      409: { description: '`turn_conflict`, `turn_running`' },
      501: { description: 'This server does not run turns' },
    },
    handle: async ({ body, caller, signal, release }, deps) => {
      const { door, streams } = deps
      const { session_id, turn_id, message, ...start } = body
      const turns = turnsOf(deps)
      const started = {
        type: 'start_turn',
        turn_id,
        message_id: door.newId(),
        message,
        ...startOf(start, deps),
      } as const
      const ref = { tenant: caller.tenant, conversation: session_id }
      const once = { key: `turn:${turn_id}`, bodyHash: hashOf(body) }
      const { value, replayed } = await door
        .transact({ ...ref, once }, transaction => {
          const event = transaction.mustRun(started).find(({ type }) => type === 'turn_started')
          return event?.seq ?? 0
        })
        .catch((error: unknown) => {
          if (!(error instanceof StoreError) || error.code !== 'key_conflict') throw error
          throw new Refusal('turn_conflict', { turn_id })
        })
      if (!replayed) turns.take(ref, turn_id)
      return streams.serve(caller.role, { ref, after: value - 1, until: turn_id }, { signal, release })
    },
  }),
})

export const messageRoutes = routes('Turns', {
  sendMessage: route('post', '/api/sessions/:session_id/messages', 'person', {
    summary: 'Sends a message: it joins the running turn, or starts one; the same message again changes nothing',
    params: ofSession,
    body: s.sentMessage.extend({
      message_id: s.id.optional().meta({ description: 'made by the sender; the same message again is one message' }),
      start: sentStart.optional().meta({
        description: 'how it starts a turn if none runs and nothing waits; absent: from the latest turn of this server',
      }),
    }),
    answers: {
      201: { description: 'The message, and the turn that it joins or starts', schema: shape('SentMessageAnswer') },
      409: { description: '`too_many_queued`, `key_conflict` for a known id with another text, or `no_own_turn`' },
      501: { description: 'This server does not run turns' },
    },
    handle: async ({ body, ref }, deps) => {
      const { door, turns } = deps
      const { text, message_id = door.newId() } = body
      const start = body.start && startOf(body.start, deps)
      if (!start) await known(door, ref)
      const once = onceFor(body.message_id, { text })
      const next = { turn_id: door.newId() }
      const { value, replayed } = await door.transact({ ...ref, once }, transaction => {
        const events = transaction.mustRun({ type: 'send_message', message_id, text, next, start })
        const message = { message_id, text, version: 1, queued_at: transaction.now }
        return { message, ...joined(transaction.state, events) } satisfies SentMessageAnswer
      })
      if (value.started && !replayed) turns?.take(ref, value.turn_id)
      return answered(value, 201)
    },
  }),
  editMessage: route('patch', '/api/sessions/:session_id/messages/:message_id', 'person', {
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
    handle: (call, { door }) => change(call, door, { type: 'edit_queued', text: call.body.text }),
  }),
  withdrawMessage: route('delete', '/api/sessions/:session_id/messages/:message_id', 'person', {
    summary: 'Takes back a message that waits',
    params: ofMessage,
    headers: ifMatch,
    answers: {
      200: { description: 'The message as it was', schema: shape('QueuedMessageAnswer') },
      409: NOT_QUEUED,
      412: CHANGED,
      428: NO_VERSION,
    },
    handle: (call, { door }) => change(call, door, { type: 'withdraw_queued' }),
  }),
  sendMessageNow: route('post', '/api/sessions/:session_id/messages/:message_id/send', 'person', {
    summary: 'Sends what waits now: stops the running turn, whose end starts one with it',
    params: ofMessage,
    answers: {
      200: { description: 'The turn that stops for it, or that was started with it', schema: shape('SentNowAnswer') },
      409: NOT_QUEUED,
    },
    handle: async ({ ref, params: { message_id } }, { door, turns }) => {
      const next = { turn_id: door.newId() }
      const { value } = await onQueued(door, ref, message_id, transaction => {
        const events = transaction.mustRun({ type: 'send_queued', message_id, next })
        return joined(transaction.state, events)
      })
      if (value.started) turns?.take(ref, value.turn_id)
      return { body: value }
    },
  }),
})

function turnsOf({ turns }: Deps): Turns {
  if (turns) return turns
  throw new HttpError(501, 'not_implemented', 'This server does not run turns; agents can call its tools.')
}

function startOf({ model, continue_turn_id, ...policy }: z.infer<typeof sentStart>, deps: Deps): TurnStart {
  const { names, defaultName, endpointOf } = turnsOf(deps)
  const { door, host } = deps
  const name = model ?? defaultName
  if (!names.includes(name)) throw invalidField('model', { rule: 'not_allowed', allowed: names })
  const place = door.checks.offered?.(door.checks.own)
  return {
    model: name,
    endpoint: endpointOf?.(name),
    policy,
    host,
    continue_turn_id,
    workspace: place?.workspace,
    done_checks: place?.done,
  }
}

function joined({ running_turn, seq }: Conversation, events: readonly StoredEvent[]): SentNowAnswer {
  if (running_turn === null) throw new TypeError('no turn is running')
  const isStarted = events.some(({ type }) => type === 'turn_started')
  return { turn_id: running_turn, ...(isStarted ? { started: true } : {}), seq }
}

/** Edits or takes back a queued message at the version that the person saw. Answers with the edited or withdrawn message. */
async function change(
  { ref, params: { message_id }, header }: Call<z.infer<typeof ofMessage>, unknown, unknown>,
  door: Door,
  what: { readonly type: 'edit_queued'; readonly text: string } | { readonly type: 'withdraw_queued' },
): Promise<Answer> {
  const command = { ...what, message_id, if_version: versionIn(header, 'message') }
  const { value } = await onQueued(door, ref, message_id, transaction => {
    const before = transaction.state
    transaction.mustRun(command)
    const { queued, seq } = transaction.state
    const message = [...queued, ...before.queued].find(each => each.message_id === message_id)
    if (!message) throw new TypeError('the message did not wait')
    return { message, seq }
  })
  return answered(value)
}

const answered = (body: QueuedMessageAnswer, status = 200): Answer => ({
  status,
  body,
  headers: { etag: `"${body.message.version}"` },
})
