import * as z from 'zod'
import type { DecisionAnswer, ReviewAnswer } from '../../domain/wire.ts'
import { reviewAnswer } from '../../toolsets/review-answer.ts'
import * as a from '../answer-schemas.ts'
import { route } from '../route.ts'
import * as s from '../schemas.ts'

const ofReview = z.object({ review_id: s.id })
const ofPanel = ofReview.extend({ panel: s.id })
const MOST_WAITING = 200

export const reviewRoutes = [
  route({
    method: 'get',
    path: '/api/task-manager/reviews/pending',
    operationId: 'listPendingReviews',
    tag: 'Reviews',
    role: 'agent',
    summary: 'Reviews that wait for a decision, soonest over first: of one conversation, or of all',
    query: z.object({ session_id: s.id.optional() }),
    answers: { 200: { description: 'At most 200', schema: a.reviews } },
    handle: async ({ query, who }, { door }) => {
      const reviews = await door.reviews.waiting(who.tenant, query.session_id, MOST_WAITING)
      return { body: { reviews } }
    },
  }),
  route({
    method: 'get',
    path: '/api/task-manager/reviews/:review_id',
    operationId: 'getReview',
    tag: 'Reviews',
    role: 'agent',
    summary: 'A review, and once it is decided what the tool answers',
    params: ofReview,
    answers: {
      200: {
        description: 'The one review',
        schema: a.oneReview,
      },
    },
    handle: async ({ params, who }, { door }) => {
      const { record, ...ref } = await door.reviews.get(who.tenant, params.review_id)
      const { review } = record
      if (!record.resolution) return { body: { reviews: [review] } satisfies ReviewAnswer }
      const result = reviewAnswer(await door.read(ref), record)
      return { body: { reviews: [review], result } satisfies ReviewAnswer }
    },
  }),
  route({
    method: 'post',
    path: '/api/task-manager/reviews/:review_id/decision',
    operationId: 'decideReview',
    tag: 'Reviews',
    role: 'person',
    summary: 'Confirms the edited rows, or cancels',
    params: ofReview,
    body: s.decision,
    answers: {
      200: {
        description: 'Decided and on disk; the same body again answers the same',
        schema: a.decided,
      },
      409: { description: '`review_already_decided`, or `review_expired`', schema: s.errorBody },
      422: { description: 'A row is wrong: `error.row` and `error.field`. The review waits on', schema: s.errorBody },
    },
    handle: async ({ params, body, who }, { door, metrics }) => {
      const decided = await door.reviews.decide(
        who.tenant,
        params.review_id,
        body,
        'http',
        (state, record): DecisionAnswer => ({ review: record.review, result: reviewAnswer(state, record) }),
      )
      metrics.decision(body.action)
      return { body: decided }
    },
  }),
  route({
    method: 'put',
    path: '/api/task-manager/reviews/:review_id/panels/:panel',
    operationId: 'showReviewPanel',
    tag: 'Reviews',
    role: 'person',
    summary: 'A panel shows the review',
    params: ofPanel,
    answers: { 204: { description: 'Noted' } },
    handle: async ({ params, who }, { door }) => {
      const { review_id, panel } = params
      const ref = await door.reviews.locate(who.tenant, review_id)
      await door.run(ref, { type: 'show_panel', review_id, panel })
      return { status: 204 }
    },
  }),
  route({
    method: 'delete',
    path: '/api/task-manager/reviews/:review_id/panels/:panel',
    operationId: 'leaveReviewPanel',
    tag: 'Reviews',
    role: 'person',
    summary: 'A panel has left; with none back within the grace, the review is cancelled',
    params: ofPanel,
    answers: { 204: { description: 'Noted' } },
    handle: async ({ params, who }, { door }) => {
      const { review_id, panel } = params
      const ref = await door.reviews.locate(who.tenant, review_id)
      await door.run(ref, { type: 'leave_panel', review_id, panel })
      return { status: 204 }
    },
  }),
]
