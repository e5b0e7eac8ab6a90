import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import * as z from 'zod'
import { type Conversation, isParked, listed } from '../../domain/conversation.ts'
import type { StoredEvent } from '../../domain/event.ts'
import { LIMITING, limitedIn } from '../../domain/limited.ts'
import { type ReviewRequest, statusAt } from '../../domain/review.ts'
import { SPOKEN, transcriptOf } from '../../domain/transcript.ts'
import type { PolicyAnswer, SessionAnswer, SessionsAnswer, TurnAnswer, TurnView } from '../../domain/wire.ts'
import type { Ref, Runsheet } from '../../runsheet.ts'
import { HttpError, notFound } from '../errors.ts'
import { pageOf } from '../parse.ts'
import { type Answer, route } from '../route.ts'
import * as s from '../schemas.ts'

const ofSession = z.object({ session_id: s.id })

export const sessionRoutes = [
  route({
    method: 'get',
    path: '/api/sessions',
    role: 'agent',
    summary: 'Conversations, newest first',
    query: z.object({ limit: s.limit(200, 50), cursor: s.cursor }),
    answers: {
      200: {
        description: 'A page of them',
        schema: z.object({ sessions: z.array(s.session), next_cursor: z.string().nullable() }),
      },
    },
    handle: async ({ query, who }, { runsheet }) => {
      const { items, next_cursor } = await pageOf(runsheet.conversations.list(who.tenant, query))
      return { body: { sessions: items, next_cursor } satisfies SessionsAnswer }
    },
  }),
  route({
    method: 'get',
    path: '/api/sessions/:session_id',
    role: 'agent',
    summary: 'A conversation: everything that a page shows of it',
    params: ofSession,
    answers: {
      200: {
        description: 'As of `seq`: follow the events from there',
        schema: z.object({
          session: s.session,
          policy: s.policy.nullable(),
          messages: z.array(s.message),
          turns: z.array(s.turn),
          tasks: z.array(s.task),
          reviews: z.array(s.review),
          seq: z.int(),
          panels: z
            .record(z.string(), z.object({ panels: z.array(z.string()), closes_at: z.iso.datetime().nullable() }))
            .meta({
              description: 'by review that waits: where it is shown, and when it is over because all have left',
            }),
          answered_seq: z.int().meta({ description: 'the newest answer that the agent got' }),
          edits: z
            .record(z.string(), z.record(z.string(), z.int()))
            .meta({ description: 'by task and field, the seq of the newest edit by a person' }),
        }),
      },
    },
    handle: async ({ params, who }, { runsheet }) => {
      const ref = { tenant: who.tenant, conversation: params.session_id }
      return { body: await sessionAnswer(runsheet, ref) }
    },
  }),
  route({
    method: 'get',
    path: '/api/sessions/:session_id/events',
    role: 'agent',
    summary: 'The event log, then live',
    params: ofSession,
    query: z.object({ last_event_id: z.string().optional() }),
    headers: z.object({ 'last-event-id': z.string().optional() }),
    answers: {
      200: { description: 'Server-sent events behind `Last-Event-ID`, without a gap', type: 'text/event-stream' },
      503: { description: 'Too many follow already: `Retry-After`' },
    },
    handle: async ({ params, query, who, header, context }, { runsheet, streams }) => {
      const after = lastEventId(header('last-event-id') ?? query.last_event_id)
      const ref = { tenant: who.tenant, conversation: params.session_id }
      // Who asks for the headers only is not to hold a place among the readers for ever.
      if (context.req.method === 'HEAD') {
        await known(runsheet, ref)
        return { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }
      }
      await streams.serve(ref, after, context.env.outgoing)
      return RESPONSE_ALREADY_SENT
    },
  }),
  route({
    method: 'put',
    path: '/api/sessions/:session_id/policy',
    role: 'person',
    summary: 'Sets what is named of the policy; between turns, or before the first',
    params: ofSession,
    body: s.policyPatch,
    answers: { 200: { description: 'The policy', schema: z.object({ policy: s.policy, seq: z.int() }) } },
    handle: async ({ params, body, who }, { runsheet, host }) => {
      const ref = { tenant: who.tenant, conversation: params.session_id }
      const { conversation } = await runsheet.run(ref, { type: 'set_policy', by: 'person', policy: body, host })
      const { policy, seq } = conversation
      if (!policy) throw new TypeError('a policy was set, and there is none')
      return { body: { policy, seq } satisfies PolicyAnswer }
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/:session_id/turns/:turn_id/stop',
    role: 'person',
    summary: 'Stops a turn',
    params: ofSession.extend({ turn_id: s.id }),
    answers: { 200: { description: 'The turn', schema: z.object({ turn: s.turn, seq: z.int() }) } },
    handle: async ({ params, who }, { runsheet }): Promise<Answer> => {
      const { session_id, turn_id } = params
      const ref = { tenant: who.tenant, conversation: session_id }
      const { conversation } = await runsheet.run(ref, { type: 'stop_turn', turn_id })
      const turn = turnsOf(conversation).find(each => each.turn_id === turn_id)
      if (!turn) throw new TypeError('a turn was stopped, and there is none')
      return { body: { turn, seq: conversation.seq } satisfies TurnAnswer }
    },
  }),
  route({
    method: 'get',
    path: '/api/sessions/:session_id/timeline',
    role: 'agent',
    summary: 'What happened to the tasks, or to one of them',
    params: ofSession,
    query: z.object({ task_id: s.id.optional() }),
    answers: { 200: { description: 'In order', schema: z.object({ events: z.array(s.event), seq: z.int() }) } },
    handle: async ({ params, query, who }, { runsheet }) => {
      const ref = { tenant: who.tenant, conversation: params.session_id }
      const { seq } = await known(runsheet, ref)
      const task = query.task_id
      const found = await runsheet.conversations.events(ref, { types: TIMELINE, task })
      const events = found.filter(event => event.seq <= seq)
      if (task !== undefined && events.length === 0) throw notFound('task_not_found', `There is no task ${task}.`)
      return { body: { events, seq } }
    },
  }),
]

const TIMELINE: readonly StoredEvent['type'][] = [
  'task_created',
  'task_changed',
  'task_removed',
  'task_assessed',
  'task_create_review_required',
  'task_create_review_resolved',
]

/** The state of a conversation that exists. */
export async function known(runsheet: Runsheet, ref: Ref): Promise<Conversation> {
  const state = await runsheet.read(ref)
  if (state.seq === 0) throw notFound('session_not_found', 'There is no such conversation.')
  return state
}

async function sessionAnswer(runsheet: Runsheet, ref: Ref): Promise<SessionAnswer> {
  const state = await known(runsheet, ref)
  const [summary, logged, now] = await Promise.all([
    runsheet.conversations.summary(ref),
    runsheet.conversations.events(ref, { types: [...new Set([...SPOKEN, ...REVIEWED, ...LIMITING])] }),
    runsheet.now(),
  ])
  // Nothing beyond `seq`: what came meanwhile, the events tell.
  const events = logged.filter(({ seq }) => seq <= state.seq)
  const limited = limitedIn(events)
  const { session_id, seq, policy, answered_seq, created_at, updated_at } = state
  return {
    session: {
      session_id,
      title: summary?.title ?? null,
      seq,
      created_at: created_at ?? now,
      updated_at: updated_at ?? now,
    },
    policy,
    messages: transcriptOf(events),
    turns: turnsOf(state).map(turn => (limited.has(turn.turn_id) ? { ...turn, limit_reached: true } : turn)),
    tasks: listed(state),
    reviews: reviewsIn(events, state, now),
    seq,
    panels: Object.fromEntries(
      state.pending_reviews.flatMap(id => {
        const { panels = [], closes_at = null } = state.reviews.get(id) ?? {}
        return [[id, { panels, closes_at }]]
      }),
    ),
    answered_seq,
    edits: Object.fromEntries(state.edits.entries()),
  }
}

const REVIEWED: readonly StoredEvent['type'][] = ['task_create_review_required']

/** Every review with its draft and with what became of it, an overdue one as expired. */
function reviewsIn(events: readonly StoredEvent[], state: Conversation, now: string): ReviewRequest[] {
  return events.flatMap(event => {
    if (event.type !== 'task_create_review_required') return []
    const review = state.reviews.get(event.data.review_id)
    if (!review) return []
    return [{ ...event.data, status: statusAt(review, now) }]
  })
}

export function turnsOf(state: Conversation): TurnView[] {
  const adopted = Map.groupBy(state.adopted.entries(), ([, turn]) => turn)
  return [...state.turns.values()]
    .map(({ id, status, stop_requested, started_at, removed }) => ({
      turn_id: id,
      status,
      stop_requested,
      parked: isParked(state, id),
      started_at,
      adopted: (adopted.get(id) ?? []).map(([task]) => task),
      removed,
    }))
    .sort((a, b) => (a.started_at < b.started_at ? -1 : 1))
}

function lastEventId(raw: string | undefined): number {
  if (raw === undefined || raw === '') return 0
  if (!/^\d{1,15}$/.test(raw)) {
    throw new HttpError(400, 'invalid_request', 'Last-Event-ID must be a seq that the stream gave out.', {
      field: 'last_event_id',
    })
  }
  return Number(raw)
}
