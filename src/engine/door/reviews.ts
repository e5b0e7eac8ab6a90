import { successorOf, type Conversation } from '../../core/model/conversation.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { DecisionVia } from '../../core/model/event.ts'
import { requestOf, statusAt, type ReviewRequest } from '../../core/model/review.ts'
import type { SentDecision } from '../../core/views/wire.ts'
import type { Door } from './door.ts'
import { StoreError } from '../../store/store-error.ts'
import { decidedReview, type ReviewRecord } from '../../store/rows.ts'
import type { Page, Paged, Ref } from '../../store/store.ts'
import { preparedDecision } from './checks.ts'
import { hashOf } from './transaction.ts'
import type { Seam } from './storage-health.ts'

export interface LocatedReview extends Ref {
  readonly record: ReviewRecord
}

interface Shared {
  readonly store: Seam
  reviewWaiters: number
}

type Answer<T> = (conversation: Conversation, record: ReviewRecord) => T

/**
 * A decision costs one lookup and one commit. All methods reject with `review_not_found` if the tenant has no such
 * review.
 */
export class Reviews {
  readonly #core: Shared
  readonly #store: Seam
  readonly #door: Door

  constructor(core: Shared, door: Door) {
    this.#core = core
    this.#store = core.store
    this.#door = door
  }

  /** An overdue review reads as expired even before its expiry is written. */
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

  /** Decides a review. Repeating the same decision returns the same answer; a different one is refused. */
  decide(tenant: string, reviewId: string, decision: SentDecision, via: DecisionVia): Promise<ReviewRecord>
  /**
   * Decides, and stores the result of `answer` in the same commit. `answer` must return JSON; repeated calls get the
   * stored one.
   */
  decide<T>(tenant: string, reviewId: string, decision: SentDecision, via: DecisionVia, answer: Answer<T>): Promise<T>
  async decide<T>(
    tenant: string,
    reviewId: string,
    decision: SentDecision,
    via: DecisionVia,
    answer?: Answer<T>,
  ): Promise<T | ReviewRecord> {
    const ref = await this.locate(tenant, reviewId)
    const { newId } = this.#door
    const rows = decision.action === 'confirm' ? decision.tasks : []
    const ids = rows.map(() => newId())
    const continuation = { turn_id: newId(), message_id: newId() }
    // The hold time is not part of the decision.
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
    // An edge that needs no answer may have stored the same decision before.
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

  /** Extends a review on a person's behalf, by `ms` from now; default: its original duration. */
  async extend(tenant: string, reviewId: string, ms?: number): Promise<ReviewRequest> {
    const ref = await this.locate(tenant, reviewId)
    const { conversation } = await this.#door.transact(ref, transaction => {
      transaction.mustRun({ type: 'extend_review', review_id: reviewId, ms })
    })
    return reviewIn(conversation, reviewId)
  }

  /** Returns the id of the review to wait for instead: the one that reopened it, or its revision once there is one. */
  async successorOf(tenant: string, reviewId: string): Promise<string> {
    return successorOf(await this.#store.load(await this.locate(tenant, reviewId)), reviewId)
  }

  /** Resolves when the review is over, in any process. Rejects with the signal's reason if it aborts first. */
  async await(tenant: string, reviewId: string, signal?: AbortSignal): Promise<ReviewRecord> {
    const { record, ...ref } = await this.#find(tenant, reviewId)
    if (record.resolution) return record
    this.#core.reviewWaiters += 1
    try {
      await this.#resolved(ref, reviewId, signal)
    } finally {
      this.#core.reviewWaiters -= 1
    }
    return (await this.#find(tenant, reviewId)).record
  }

  get waiters(): number {
    return this.#core.reviewWaiters
  }

  /** Pending reviews by deadline, soonest first, those without one last: of one conversation, or of all. */
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
    for await (const { pending_reviews } of this.#door.states(ref, signal ? { signal } : {})) {
      if (!pending_reviews.includes(reviewId)) return
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
