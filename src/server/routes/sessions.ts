import * as z from 'zod'
import { isParked, listed, type Conversation } from '../../core/model/conversation.ts'
import { TIMELINE, type EventType, type StoredEvent } from '../../core/model/event.ts'
import { withoutOrigin } from '../../core/model/origin.ts'
import { standingsOf, taskOnWire } from '../../core/proof/standing.ts'
import { combined, projection } from '../../core/model/log.ts'
import { statusAt, type ReviewRequest } from '../../core/model/review.ts'
import { snapshotOf } from '../../core/model/snapshot.ts'
import type { Task } from '../../core/model/task.ts'
import { SESSION_LISTS, markOf } from '../../core/views/session-list.ts'
import { limitedTurns, title, view, type View } from '../../core/views/view.ts'
import { transcript } from '../../core/views/transcript.ts'
import type {
  EventAnswer,
  PolicyAnswer,
  Session,
  SessionAnswer,
  SessionsAnswer,
  SnapshotAnswer,
  TimelineAnswer,
  TurnAnswer,
  TurnView,
} from '../../core/views/wire.ts'
import type { Door, Found, Ref } from '../../engine/door/door.ts'
import { HttpError, notFound } from '../http/replies.ts'
import { pageOf } from '../http/requests.ts'
import { route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'

const ofSession = z.object({ session_id: s.id })

export const sessionRoutes = [
  ...routes('Sessions', {
    listSessions: route('get', '/api/sessions', 'agent', {
      summary:
        'Conversations: pinned ones first, then by last activity; with `q` those with these words in their title',
      query: z.object({
        q: s.searchedText.trim().min(1).optional(),
        list: z.enum(SESSION_LISTS).default('active'),
        limit: s.limit(200, 50),
        cursor: s.cursor,
      }),
      answers: {
        200: {
          description:
            'A page of the list. `list`: `active` ones (default), those that were `archived`, or `all` by creation, which misses none. A search finds all',
          schema: shape('SessionsAnswer'),
        },
      },
      handle: async ({ query: { q, list, ...page }, caller }, { door }) => {
        const asked =
          q === undefined
            ? door.conversations.list(caller.tenant, page, list)
            : door.search.conversations(caller.tenant, q, page)
        const { items, ...rest } = await pageOf<Found<Session>>(asked)
        return { body: { sessions: items, ...rest } satisfies SessionsAnswer }
      },
    }),
    getSession: route('get', '/api/sessions/:session_id', 'agent', {
      summary: 'A conversation with its messages, turns, tasks and reviews',
      params: ofSession,
      answers: {
        200: {
          description: 'The state at `seq`; follow the events from there',
          schema: shape('SessionAnswer'),
        },
      },
      handle: async ({ ref }, { door }) => {
        return { body: await sessionAnswer(door, ref) }
      },
    }),
    getSnapshot: route('get', '/api/sessions/:session_id/snapshot', 'agent', {
      summary: 'A conversation for clients that apply events to it',
      params: ofSession,
      answers: {
        200: {
          description: 'The state at `conversation.seq`; follow the events from there',
          schema: shape('SnapshotAnswer'),
        },
      },
      handle: async ({ ref }, { door }) => {
        const state = await known(door, ref)
        const events = await eventsUpTo(door, ref, state.seq, view.types)
        return { body: { conversation: snapshotOf(state), view: view.of(events) } satisfies SnapshotAnswer }
      },
    }),
    setPolicy: route('put', '/api/sessions/:session_id/policy', 'person', {
      summary: 'Sets the given fields of the policy, between turns',
      params: ofSession,
      body: s.policyPatch,
      answers: { 200: { description: 'The policy', schema: shape('PolicyAnswer') } },
      handle: async ({ body, ref }, { door, host }) => {
        const { conversation } = await door.run(ref, { type: 'set_policy', by: 'person', policy: body, host })
        const { policy, seq } = conversation
        if (!policy) throw new TypeError('the policy was not set')
        return { body: { policy, seq } satisfies PolicyAnswer }
      },
    }),
  }),
  ...routes('Turns', {
    stopTurn: route('post', '/api/sessions/:session_id/turns/:turn_id/stop', 'person', {
      summary: 'Stops a turn',
      params: ofSession.extend({ turn_id: s.id }),
      answers: { 200: { description: 'The turn', schema: shape('TurnAnswer') } },
      handle: async ({ ref, params: { turn_id } }, { door }) => {
        const { conversation } = await door.run(ref, { type: 'stop_turn', turn_id })
        const turn = turnsOf(conversation).find(each => each.turn_id === turn_id)
        if (!turn) throw new TypeError('the stopped turn does not exist')
        return { body: { turn, seq: conversation.seq } satisfies TurnAnswer }
      },
    }),
  }),
  ...routes('Events', {
    getEvent: route('get', '/api/sessions/:session_id/events/:seq', 'agent', {
      summary: 'One event of the log',
      params: ofSession.extend({ seq: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) }),
      answers: { 200: { description: 'The event', schema: shape('EventAnswer') } },
      handle: async ({ params, ref }, { door }) => {
        const [event] = await door.conversations.eventsAfter(ref, params.seq - 1, 1)
        if (!event) throw notFound('event_not_found', `There is no event ${params.seq} in this conversation.`)
        return { body: { event } satisfies EventAnswer }
      },
    }),
    streamEvents: route('get', '/api/sessions/:session_id/events', 'agent', {
      summary: 'Streams the event log, then new events',
      params: ofSession,
      query: z.object({ last_event_id: z.string().optional() }),
      headers: z.object({ 'last-event-id': z.string().optional() }),
      answers: {
        200: {
          description: 'Server-sent events after `Last-Event-ID`, without a gap',
          type: 'text/event-stream',
          message: shape('StreamedEvent'),
        },
        429: { description: '`too_many_requests`; see `Retry-After`' },
      },
      handle: async ({ query, caller, method, header, signal, release, ref }, { door, streams }) => {
        const after = lastEventId(header('last-event-id') ?? query.last_event_id)
        // A HEAD request must not hold a stream open.
        if (method === 'HEAD') {
          await known(door, ref)
          return { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }
        }
        return streams.serve(caller.role, { ref, after }, { signal, release })
      },
    }),
    getTimeline: route('get', '/api/sessions/:session_id/timeline', 'agent', {
      summary: 'The events of all tasks and reviews, or of one task',
      params: ofSession,
      query: z.object({ task_id: s.id.optional() }),
      answers: { 200: { description: 'In log order', schema: shape('TimelineAnswer') } },
      handle: async ({ query, ref }, { door }) => {
        const { seq } = await known(door, ref)
        const task = query.task_id
        const found = await door.conversations.events(ref, { types: TIMELINE, task })
        const events = found.filter(event => event.seq <= seq)
        if (task !== undefined && events.length === 0) throw notFound('task_not_found', `There is no task ${task}.`)
        return { body: { events, seq } satisfies TimelineAnswer }
      },
    }),
  }),
]

/** Throws 404 if the conversation does not exist. */
export async function known(door: Door, ref: Ref, need?: 'list'): Promise<Conversation> {
  const state = await door.read(ref, need)
  if (state.seq === 0) throw notFound('session_not_found', 'There is no such conversation.')
  return state
}

const shown = combined<Pick<View, 'title' | 'messages' | 'limited'> & { readonly requests: readonly ReviewRequest[] }>({
  title,
  messages: transcript,
  limited: limitedTurns,
  requests: projection<readonly ReviewRequest[]>({
    initial: [],
    on: { task_create_review_required: (requests, { data }) => [...requests, withoutOrigin(data)] },
  }),
})

async function sessionAnswer(door: Door, ref: Ref): Promise<SessionAnswer> {
  const state = await known(door, ref)
  const [events, now] = await Promise.all([eventsUpTo(door, ref, state.seq, shown.types), door.now()])
  const { title, messages, limited, requests } = shown.of(events)
  const { session_id, seq, policy, pinned, archived, created_at, updated_at, active_at } = state
  return {
    session: {
      session_id,
      title,
      seq,
      created_at: created_at ?? now,
      updated_at: updated_at ?? now,
      active_at: active_at ?? created_at ?? now,
      pinned,
      archived,
      mark: markOf(state),
    },
    policy,
    messages,
    turns: turnsOf(state).map(turn => (limited.turns.includes(turn.turn_id) ? { ...turn, limit_reached: true } : turn)),
    tasks: listed(state).map(task => taskOnWire(state, task)),
    reviews: requests.flatMap(request => reviewAt(request, state, now)),
    queued: state.queued,
    approvals: state.approvals,
    seq,
  }
}

/** Events of these types up to `seq`; the stream sends the later ones. */
export async function eventsUpTo(
  door: Door,
  ref: Ref,
  seq: number,
  types: readonly EventType[],
): Promise<readonly StoredEvent[]> {
  const events = await door.conversations.events(ref, { types })
  return events.filter(event => event.seq <= seq)
}

function reviewAt(request: ReviewRequest, { reviews }: Conversation, now: string): ReviewRequest[] {
  const review = reviews.get(request.review_id)
  return review ? [{ ...request, expires_at: review.expires_at, status: statusAt(review, now) }] : []
}

export function turnsOf(state: Conversation): TurnView[] {
  const plans = Map.groupBy(listed(state), ({ plan_id }) => plan_id)
  return [...state.turns.values()]
    .map(({ id, status, stop_requested, started_at, plan_id, workspace }) => ({
      turn_id: id,
      status,
      stop_requested,
      parked: isParked(state, id),
      started_at,
      plan_id,
      ...(workspace === undefined ? {} : { workspace }),
      ...standingsIn(state, plans.get(plan_id) ?? []),
    }))
    .sort((a, b) => (a.started_at < b.started_at ? -1 : 1))
}

function standingsIn(state: Conversation, plan: readonly Task[]): Pick<TurnView, 'standings'> {
  const isAny = plan.some(({ status }) => status === 'completed')
  return isAny ? { standings: standingsOf(state, plan) } : {}
}

function lastEventId(raw: string | undefined): number {
  if (raw === undefined || raw === '') return 0
  if (!/^\d{1,15}$/.test(raw)) {
    throw new HttpError(400, 'invalid_request', 'Last-Event-ID must be the id of an event.', {
      field: 'last_event_id',
    })
  }
  return Number(raw)
}
