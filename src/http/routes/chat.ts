import * as z from 'zod'
import { invalidField, Refusal } from '../../domain/refusal.ts'
import { hashOf, StoreError } from '../../door/door.ts'
import { HttpError } from '../http-error.ts'
import { route } from '../route.ts'
import * as s from '../schemas.ts'
import { shape } from '../shapes.ts'

/** Only the limit of the body applies. */
const message = z.string().min(1).meta({ description: 'what the agent should do' })

export const chatRoutes = [
  route({
    method: 'post',
    path: '/api/chat',
    operationId: 'startTurn',
    tag: 'Turns',
    role: 'person',
    summary: 'Starts a turn and streams its events until it ends; the same request again attaches to it',
    body: z.strictObject({
      session_id: s.id,
      turn_id: s.id,
      message,
      model: z.string().optional(),
      toolset: s.toolset.optional(),
      review: z.boolean().optional(),
      assessor: z.boolean().optional(),
      gate: z.boolean().optional(),
      continue_turn_id: s.id.optional(),
    }),
    answers: {
      200: {
        description: 'Server-sent events, from `turn_started` to `turn_finished`',
        type: 'text/event-stream',
        message: shape('StreamedEvent'),
      },
      409: { description: '`turn_conflict`, `turn_running`' },
      503: { description: 'Too many open streams: the turn was not started; see `Retry-After`' },
      501: { description: 'This server does not run turns' },
    },
    handle: async ({ body, caller, connection }, { door, streams, host, turns }) => {
      if (!turns) {
        throw new HttpError(501, 'not_implemented', 'This server does not run turns; agents can call its tools.')
      }
      const { session_id, turn_id, message: text, model = turns.defaultName, continue_turn_id, ...policy } = body
      if (!turns.names.includes(model)) throw invalidField('model', { rule: 'not_allowed', allowed: turns.names })
      const ref = { tenant: caller.tenant, conversation: session_id }
      const once = { key: `turn:${turn_id}`, bodyHash: hashOf(body) }
      const place = door.checks.offered?.(door.checks.own)
      const command = {
        type: 'start_turn',
        turn_id,
        message_id: door.newId(),
        message: text,
        model,
        endpoint: turns.endpointOf?.(model),
        policy,
        host,
        continue_turn_id,
        workspace: place?.workspace,
        done_checks: place?.done,
      } as const
      return streams.serve(caller, connection, async () => {
        const started = await door
          .transact({ ...ref, once }, transaction => {
            const event = transaction.mustRun(command).find(({ type }) => type === 'turn_started')
            return event?.seq ?? 0
          })
          .catch((error: unknown) => {
            if (!(error instanceof StoreError) || error.code !== 'key_conflict') throw error
            throw new Refusal('turn_conflict', { turn_id })
          })
        if (!started.replayed) turns.take(ref, turn_id)
        return { ref, after: started.value - 1, until: turn_id }
      })
    },
  }),
]
