import { type Conversation, successorOf } from '../domain/conversation.ts'
import { Refusal } from '../domain/refusal.ts'
import type { DecisionVia } from '../domain/event.ts'
import { requestOf, type ReviewRequest, statusAt } from '../domain/review.ts'
import type { Decision, LocatedReview, Reviews, Door } from './door.ts'
import { StoreError } from '../store/store-error.ts'
import { decidedReview, type ReviewRecord } from '../store/rows.ts'
import type { Page, Paged, Ref, Store } from '../store/store.ts'
import { preparedDecision } from './checks.ts'
import { hashOf } from './hash.ts'

type DoorPart = Pick<Door, 'newId' | 'checks' | 'transact' | 'tail'>
type Answer<T> = (conversation: Conversation, record: ReviewRecord) => T

/** Reviews behind the door: a decision costs one lookup and one commit. */
export class DoorReviews implements Reviews {
  readonly #store: Store
  readonly #door: DoorPart
  readonly #waiting: { count: number }

  constructor(store: Store, door: DoorPart, waiting = { count: 0 }) {
    this.#store = store
    this.#door = door
    this.#waiting = waiting
  }

  /** The same reviews, decided through another door. */
  through(door: DoorPart): DoorReviews {
    return new DoorReviews(this.#store, door, this.#waiting)
  }

  async get(tenant: string, reviewId: string): Promise<LocatedReview> {
    const found = await this.#find(tenant, reviewId)
    if (found.record.resolution) return found
    const [state, now] = await Promise.all([this.#store.load(found), this.#store.now()])
    const review = state.reviews.get(reviewId)
    if (!review) return found
    const { record } = found
    return { ...found, record: { ...record, review: { ...record.review, status: statusAt(review, now) } } }
  }

  async locate(tenant: string, reviewId: string): Promise<Ref> {
    const { conversation } = await this.#find(tenant, reviewId)
    return { tenant, conversation }
  }

  async decide<T = ReviewRecord>(
    tenant: string,
    reviewId: string,
    decision: Decision,
    via: DecisionVia,
    answer?: Answer<T>,
  ): Promise<T | ReviewRecord> {
    const ref = await this.locate(tenant, reviewId)
    const { newId } = this.#door
    const rows = decision.action === 'confirm' ? decision.tasks : []
    const ids = rows.map(() => newId())
    const continuation = { turn_id: newId(), message_id: newId() }
    // How long it was held back is no part of what was decided.
    const bodyHash = hashOf({ ...decision, held_ms: undefined })
    const once = { key: `decided:${reviewId}:${bodyHash}`, bodyHash }
    const { value, conversation } = await this.#door.transact({ ...ref, once }, transaction => {
      const before = transaction.state
      const events = transaction.mustRun({
        type: 'decide_review',
        review_id: reviewId,
        decision: preparedDecision(before, this.#door, reviewId, decision),
        via,
        ids,
        continuation,
      })
      const record = decidedReview(before, transaction.state, events, reviewId)
      return { record, answer: answer?.(transaction.state, record) ?? null }
    })
    if (!answer) return value.record
    // The same decision may have been stored before, by an edge that asked for no answer.
    return value.answer ?? answer(conversation, value.record)
  }

  async reopen(tenant: string, reviewId: string): Promise<ReviewRequest> {
    const ref = await this.locate(tenant, reviewId)
    const new_review_id = `rev_${this.#door.newId()}`
    const { value } = await this.#door.transact(ref, transaction => {
      transaction.mustRun({ type: 'reopen_review', review_id: reviewId, new_review_id })
      return reviewIn(transaction.state, new_review_id)
    })
    return value
  }

  async extend(tenant: string, reviewId: string, ms?: number): Promise<ReviewRequest> {
    const ref = await this.locate(tenant, reviewId)
    const { conversation } = await this.#door.transact(ref, transaction => {
      transaction.mustRun({ type: 'extend_review', review_id: reviewId, ms })
    })
    return reviewIn(conversation, reviewId)
  }

  async successorOf(tenant: string, reviewId: string): Promise<string> {
    return successorOf(await this.#store.load(await this.locate(tenant, reviewId)), reviewId)
  }

  async await(tenant: string, reviewId: string, signal?: AbortSignal): Promise<ReviewRecord> {
    const { record, ...ref } = await this.#find(tenant, reviewId)
    if (record.resolution) return record
    this.#waiting.count += 1
    try {
      await this.#resolved(ref, reviewId, signal)
    } finally {
      this.#waiting.count -= 1
    }
    return (await this.#find(tenant, reviewId)).record
  }

  get waiters(): number {
    return this.#waiting.count
  }

  waiting(tenant: string, conversation: string | undefined, page: Page): Promise<Paged<ReviewRequest>> {
    return this.#store.queries.waiting(tenant, conversation, page)
  }

  waitingCount(tenant: string, most: number): Promise<number> {
    return this.#store.queries.waitingCount(tenant, most)
  }

  async #find(tenant: string, reviewId: string): Promise<LocatedReview> {
    const found = await this.#store.queries.review(tenant, reviewId)
    if (!found) throw new Refusal('review_not_found', { review_id: reviewId })
    return found
  }

  async #resolved(ref: Ref, reviewId: string, signal: AbortSignal | undefined): Promise<void> {
    const { seq, pending_reviews } = await this.#store.load(ref)
    if (!pending_reviews.includes(reviewId)) return
    for await (const { events } of this.#door.tail(ref, { after: seq, ...(signal ? { signal } : {}) })) {
      if (events.some(event => event.type === 'task_create_review_resolved' && event.data.review_id === reviewId))
        return
    }
    throw signal?.aborted
      ? signal.reason
      : new StoreError('closed', 'The store was closed while the review was pending.')
  }
}

function reviewIn({ reviews }: Conversation, id: string): ReviewRequest {
  const review = reviews.get(id)
  if (!review) throw new TypeError(`there is no review ${id}`)
  return requestOf(review)
}
