import { type Conversation, successorOf } from '../domain/conversation.ts'
import { Refusal } from '../domain/refusal.ts'
import type { DecisionVia } from '../domain/event.ts'
import { requestOf, type ReviewRequest, statusAt } from '../domain/review.ts'
import type { SentDecision } from '../domain/wire.ts'
import type { Door } from './door.ts'
import { StoreError } from '../store/store-error.ts'
import { decidedReview, type ReviewRecord } from '../store/rows.ts'
import type { Page, Paged, Ref } from '../store/store.ts'
import { preparedDecision } from './checks.ts'
import { hashOf } from './hash.ts'
import type { Seam } from './seam.ts'

/** A review and the conversation it belongs to. */
export interface LocatedReview extends Ref {
  /** The review with its drafts, and how it ended if it did. */
  readonly record: ReviewRecord
}

/** What the reviews of all origins share. */
interface Shared {
  readonly store: Seam
  /** Callers in this process that wait for a decision. */
  reviewWaiters: number
}

type Answer<T> = (conversation: Conversation, record: ReviewRecord) => T

/**
 * Reviews behind the door: a decision costs one lookup and one commit. All methods reject with `review_not_found` if the
 * tenant has no such review.
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

  /** The review as of now: an overdue one reads as over even before that is written. */
  async get(tenant: string, reviewId: string): Promise<LocatedReview> {
    const found = await this.#find(tenant, reviewId)
    if (found.record.resolution) return found
    const [state, now] = await Promise.all([this.#store.load(found), this.#store.now()])
    const review = state.reviews.get(reviewId)
    if (!review) return found
    const { record } = found
    return { ...found, record: { ...record, review: { ...record.review, status: statusAt(review, now) } } }
  }

  /** The conversation that the review belongs to. */
  async locate(tenant: string, reviewId: string): Promise<Ref> {
    const { conversation } = await this.#find(tenant, reviewId)
    return { tenant, conversation }
  }

  /** Decides a review. Repeating the same decision returns the same answer; a different one is refused. */
  decide(tenant: string, reviewId: string, decision: SentDecision, via: DecisionVia): Promise<ReviewRecord>
  /** Decides, and makes the answer in the same commit. `answer` must return JSON; repetitions get it again. */
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

  /** Opens a review again that nobody decided, on a person's behalf. Resolves with the new one. */
  async reopen(tenant: string, reviewId: string): Promise<ReviewRequest> {
    const ref = await this.locate(tenant, reviewId)
    const new_review_id = `rev_${this.#door.newId()}`
    const { value } = await this.#door.transact(ref, transaction => {
      transaction.mustRun({ type: 'reopen_review', review_id: reviewId, new_review_id })
      return reviewIn(transaction.state, new_review_id)
    })
    return value
  }

  /** Gives a review more time, on a person's behalf: from now `ms`, by default as long as it had at first. */
  async extend(tenant: string, reviewId: string, ms?: number): Promise<ReviewRequest> {
    const ref = await this.locate(tenant, reviewId)
    const { conversation } = await this.#door.transact(ref, transaction => {
      transaction.mustRun({ type: 'extend_review', review_id: reviewId, ms })
    })
    return reviewIn(conversation, reviewId)
  }

  /** The id of the review to wait for instead: the one that reopens it, or revises it once that was heard. */
  async successorOf(tenant: string, reviewId: string): Promise<string> {
    return successorOf(await this.#store.load(await this.locate(tenant, reviewId)), reviewId)
  }

  /** Resolves when the review is over, in whichever process. Rejects with the signal's reason if that comes first. */
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

  /** How many callers in this process wait for a decision. */
  get waiters(): number {
    return this.#core.reviewWaiters
  }

  /** Pending reviews by deadline, soonest first, those without one last: of one conversation, or of all. */
  waiting(tenant: string, conversation: string | undefined, page: Page): Promise<Paged<ReviewRequest>> {
    return this.#store.queries.waiting(tenant, conversation, page)
  }

  /** How many reviews are pending; not counted beyond `most`. */
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
