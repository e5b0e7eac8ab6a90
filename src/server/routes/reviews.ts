import * as z from 'zod'
import type { ReviewRequest } from '../../core/model/review.ts'
import type {
  DecisionAnswer,
  ExtendAnswer,
  ReopenAnswer,
  ReviewAnswer,
  ReviewOrigin,
  ReviewsAnswer,
} from '../../core/views/wire.ts'
import { waitingCalls, type Door } from '../../engine/door/door.ts'
import { reviewAnswer } from '../../engine/toolsets/answer.ts'
import { pageOf } from '../http/requests.ts'
import { route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'

const ofReview = z.object({ review_id: s.id })
const ofPanel = ofReview.extend({ panel: s.id })

export const reviewRoutes = routes('Reviews', {
  listPendingReviews: route('get', '/api/task-manager/reviews/pending', 'agent', {
    summary: 'Pending reviews of one conversation or of all, by deadline, with their conversations',
    query: z.object({
      session_id: s.id.optional(),
      limit: s.limit(200, 50),
      cursor: s.cursor,
      origins: s.described(z.enum(['true', 'false']).default('false'), 'also when and by which agent each was opened'),
      approvals: s.described(
        z.enum(['true', 'false']).default('false'),
        'also the calls of tools and the disputes that wait, which have no pages',
      ),
    }),
    answers: {
      200: { description: 'A page of the list; it ends early where drafts are long', schema: shape('ReviewsAnswer') },
    },
    handle: async ({ query: { session_id, origins, approvals, ...page }, caller }, { door }) => {
      const { items, next_cursor } = await pageOf(door.reviews.waiting(caller.tenant, session_id, page))
      const calls = approvals === 'true' ? await waitingCalls(door, caller.tenant, session_id) : undefined
      const ids = [
        ...new Set([...items, ...(calls?.approvals ?? []), ...(calls?.disputes ?? [])].map(each => each.session_id)),
      ]
      const sessions = ids.length === 0 ? [] : await door.conversations.summaries(caller.tenant, ids)
      const next = next_cursor === null ? {} : { next_cursor }
      const known = origins === 'true' ? { origins: await originsOf(door, caller.tenant, items) } : {}
      return { body: { reviews: items, sessions, ...known, ...calls, ...next } satisfies ReviewsAnswer }
    },
  }),
  getReview: route('get', '/api/task-manager/reviews/:review_id', 'agent', {
    summary: 'A review and, once it is decided, the answer of the tool call',
    params: ofReview,
    answers: {
      200: {
        description: 'The review',
        schema: shape('ReviewAnswer'),
      },
    },
    handle: async ({ params, caller }, { door }) => {
      const { record, ...ref } = await door.reviews.get(caller.tenant, params.review_id)
      const { review } = record
      if (!record.resolution) return { body: { reviews: [review] } satisfies ReviewAnswer }
      const result = reviewAnswer(await door.read(ref), record)
      return { body: { reviews: [review], result } satisfies ReviewAnswer }
    },
  }),
  decideReview: route('post', '/api/task-manager/reviews/:review_id/decision', 'person', {
    summary: 'Confirms the plan with the edited rows, cancels it, or sends it back to be revised',
    params: ofReview,
    body: s.decision,
    answers: {
      200: {
        description: 'Decided and stored; the same body again gets the same answer',
        schema: shape('DecisionAnswer'),
      },
      409: {
        description: '`review_already_decided` or `review_expired`; `turn_running` if a reopened plan has to wait',
      },
      422: {
        description: 'A row is invalid: `error.row` and `error.field`. The review stays pending',
      },
    },
    handle: async ({ params, body, caller }, { door, turns }) => {
      const decided = await door.reviews.decide(
        caller.tenant,
        params.review_id,
        body,
        'http',
        (state, record): DecisionAnswer => {
          const turn_id = record.resolution?.continued_by
          const result = reviewAnswer(state, record)
          return { review: record.review, result, ...(turn_id === undefined ? {} : { turn_id }) }
        },
      )
      if (decided.turn_id !== undefined) {
        turns?.take({ tenant: caller.tenant, conversation: decided.review.session_id }, decided.turn_id)
      }
      return { body: decided }
    },
  }),
  reopenReview: route('post', '/api/task-manager/reviews/:review_id/reopen', 'person', {
    summary:
      'Opens a review again that timed out, whose page was closed, that a form in an MCP client rejected, or that was sent back and not revised',
    params: ofReview,
    answers: {
      200: { description: 'The new review, with the same draft', schema: shape('ReopenAnswer') },
      409: {
        description: '`review_not_reopenable`, or `turn_running` while the turn that asked runs',
      },
    },
    handle: async ({ params, caller }, { door }) => {
      const review = await door.reviews.reopen(caller.tenant, params.review_id)
      return { body: { review } satisfies ReopenAnswer }
    },
  }),
  extendReview: route('post', '/api/task-manager/reviews/:review_id/extend', 'person', {
    summary: 'Gives a review with a deadline more time; the latest deadline counts',
    params: ofReview,
    body: s.extension,
    answers: {
      200: { description: 'The review, with its deadline', schema: shape('ExtendAnswer') },
      409: {
        description: '`review_already_decided`, `review_expired`, or `review_without_deadline`',
      },
    },
    handle: async ({ params, body, caller }, { door }) => {
      const review = await door.reviews.extend(caller.tenant, params.review_id, body.ms)
      return { body: { review } satisfies ExtendAnswer }
    },
  }),
  showReviewPanel: route('put', '/api/task-manager/reviews/:review_id/panels/:panel', 'person', {
    summary: 'Notes that a panel shows the review',
    params: ofPanel,
    answers: { 204: { description: 'Noted' } },
    handle: async ({ params, caller }, { door }) => {
      const { review_id, panel } = params
      const ref = await door.reviews.locate(caller.tenant, review_id)
      await door.run(ref, { type: 'show_panel', review_id, panel })
      return { status: 204 }
    },
  }),
  leaveReviewPanel: route('delete', '/api/task-manager/reviews/:review_id/panels/:panel', 'person', {
    summary: 'Notes that a panel was closed; without another one in time, the review is cancelled',
    params: ofPanel,
    answers: { 204: { description: 'Noted' } },
    handle: async ({ params, caller }, { door }) => {
      const { review_id, panel } = params
      const ref = await door.reviews.locate(caller.tenant, review_id)
      await door.run(ref, { type: 'leave_panel', review_id, panel })
      return { status: 204 }
    },
  }),
})

/** Loads each conversation, which costs more than the list; only on request. */
async function originsOf(door: Door, tenant: string, reviews: readonly ReviewRequest[]): Promise<ReviewOrigin[]> {
  const origins: ReviewOrigin[] = []
  for (const [conversation, asked] of Map.groupBy(reviews, ({ session_id }) => session_id)) {
    const state = await door.read({ tenant, conversation })
    for (const { review_id, conversation_turn_id } of asked) {
      const review = state.reviews.get(review_id)
      if (!review) continue
      const { model, client } = state.turns.get(conversation_turn_id) ?? {}
      origins.push({ review_id, asked_at: review.asked_at, ...(model && { model }), ...(client && { client }) })
    }
  }
  return origins
}
