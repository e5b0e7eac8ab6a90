import { hash } from 'node:crypto'
import { v7 } from 'uuid'
import { Deadlines } from './door/deadlines.ts'
import { Tails } from './door/tails.ts'
import { Transaction } from './door/transaction.ts'
import type { Command, CommandOf } from './domain/command.ts'
import { type Conversation, nextDeadline } from './domain/conversation.ts'
import { invalidId, Refusal } from './domain/errors.ts'
import type { DecisionVia } from './domain/event.ts'
import { statusAt } from './domain/review.ts'
import { isId } from './domain/text.ts'
import type { Commit } from './store/commit.ts'
import { StoreError } from './store/store-error.ts'
import { decidedReview, type ReviewRecord } from './store/rows.ts'
import type { At, Committed, LiveEntry, Ref, Store } from './store/store.ts'

// What stands on the door needs no other import for what comes out of it.
export { StoreError } from './store/store-error.ts'
export { Transaction } from './door/transaction.ts'
export type { Commit } from './store/commit.ts'
export type { ReviewRecord } from './store/rows.ts'
export { type At, type Committed, type Lease, type LiveEntry, type Ref, refKey } from './store/store.ts'

export interface RunsheetOptions {
  readonly store: Store
  /** Draws the ids of tasks and reviews. */
  readonly newId?: () => string
  /** Hears of failures that no caller waits for: a sweep or a tail that storage let down. */
  readonly onError?: (error: unknown) => void
}

export type Decision = CommandOf<'decide_review'>['decision']

/**
 * The door: the one way in and out. A command is decided on the current state and committed with its events in one
 * transaction; whoever reads gets the state, the log, or a decision that they wait for.
 */
export interface Runsheet {
  readonly store: Store
  readonly newId: () => string
  /** Runs commands as one commit. A refusal is thrown, and nothing is written. */
  run(at: At, ...commands: readonly Command[]): Promise<Committed<null>>
  /** The same with a say in between: `work` runs commands, looks at what came of them, and makes the answer; or discards it. */
  transact<T>(at: At, work: (transaction: Transaction) => T): Promise<Committed<T>>
  read(ref: Ref): Promise<Conversation>
  /** The commits behind `after`, then new ones, until the signal: no gap, no double. */
  tail(ref: Ref, options?: { after?: number; signal?: AbortSignal }): AsyncIterable<Commit>
  /** The live text of a running step each time it is written, in whichever process, until the signal. */
  texts(ref: Ref, options?: { signal?: AbortSignal }): AsyncIterable<LiveEntry>
  /** A review as it stands now: an overdue one reads as expired before anybody wrote so. */
  review(tenant: string, reviewId: string): Promise<Ref & { readonly record: ReviewRecord }>
  /** The same decision again answers the same; another one is refused. */
  decideReview(tenant: string, reviewId: string, decision: Decision, via: DecisionVia): Promise<ReviewRecord>
  /** The same, and what `answer` makes of it in the same commit: JSON, which a repetition is then answered with. */
  decideReview<T>(
    tenant: string,
    reviewId: string,
    decision: Decision,
    via: DecisionVia,
    answer: (conversation: Conversation, record: ReviewRecord) => T,
  ): Promise<T>
  /** Resolves once the review is resolved, whoever does it; rejects with the signal's reason if that comes first. */
  awaitReview(tenant: string, reviewId: string, signal?: AbortSignal): Promise<ReviewRecord>
  /** Ends the tails and the timer, and closes the store once what is under way is finished. */
  close(): Promise<void>
}

export function createRunsheet(options: RunsheetOptions): Runsheet {
  return new Door(options)
}

/** The same content has the same hash, in whatever order its keys come. */
export function hashOf(body: unknown): string {
  return hash('sha256', JSON.stringify(sorted(body)) ?? 'null', 'base64url')
}

class Door implements Runsheet {
  readonly store: Store
  readonly newId: () => string
  readonly #tails: Tails
  readonly #deadlines: Deadlines
  readonly #ending = new AbortController()

  constructor({ store, newId = v7, onError = () => {} }: RunsheetOptions) {
    this.store = store
    this.newId = newId
    this.#tails = new Tails(store, onError)
    this.#deadlines = new Deadlines(
      store,
      due => this.run(due, { type: 'expire_review', review_id: due.review_id }),
      onError,
    )
  }

  run(at: At, ...commands: readonly Command[]): Promise<Committed<null>> {
    return this.transact(at, transaction => {
      for (const command of commands) transaction.mustRun(command)
      return null
    })
  }

  async transact<T>(at: At, work: (transaction: Transaction) => T): Promise<Committed<T>> {
    checkIds(at)
    const committed = await this.store.commit(at, (state, now) => {
      const transaction = new Transaction(state, now)
      return transaction.decided(work(transaction))
    })
    this.#noteDeadline(committed)
    return committed
  }

  async read(ref: Ref): Promise<Conversation> {
    checkIds(ref)
    return this.store.load(ref)
  }

  tail(ref: Ref, { after = 0, signal }: { after?: number; signal?: AbortSignal } = {}): AsyncIterable<Commit> {
    checkIds(ref)
    return this.#tails.follow(ref, after, this.#untilEnd(signal))
  }

  texts(ref: Ref, { signal }: { signal?: AbortSignal } = {}): AsyncIterable<LiveEntry> {
    checkIds(ref)
    return this.#tails.followText(ref, this.#untilEnd(signal))
  }

  async review(tenant: string, reviewId: string): Promise<Ref & { readonly record: ReviewRecord }> {
    const found = await this.store.queries.review(tenant, reviewId)
    if (!found) throw new Refusal('review_not_found', `There is no review ${reviewId}.`)
    const review = (await this.store.load(found)).reviews.get(reviewId)
    if (!review || found.record.resolution) return found
    const now = await this.store.now()
    const { record, ...ref } = found
    return { ...ref, record: { ...record, review: { ...record.review, status: statusAt(review, now) } } }
  }

  async decideReview<T = ReviewRecord>(
    tenant: string,
    reviewId: string,
    decision: Decision,
    via: DecisionVia,
    answer: (conversation: Conversation, record: ReviewRecord) => T | ReviewRecord = (_, record) => record,
  ): Promise<T | ReviewRecord> {
    const { conversation } = await this.review(tenant, reviewId)
    const rows = decision.action === 'confirm' ? decision.tasks.length : 0
    const ids = Array.from({ length: rows }, () => this.newId())
    const bodyHash = hashOf(decision)
    const once = { key: `decision:${reviewId}:${bodyHash}`, bodyHash }
    const command = { type: 'decide_review', review_id: reviewId, decision, via, ids } as const
    const { value } = await this.transact({ tenant, conversation, once }, transaction => {
      const before = transaction.state
      const events = transaction.mustRun(command)
      const record = decidedReview(before, transaction.state, events, reviewId)
      return answer(transaction.state, record)
    })
    return value
  }

  async awaitReview(tenant: string, reviewId: string, signal?: AbortSignal): Promise<ReviewRecord> {
    const { conversation, record } = await this.review(tenant, reviewId)
    if (record.resolution) return record
    const { seq, pending_reviews } = await this.store.load({ tenant, conversation })
    if (!pending_reviews.includes(reviewId)) return (await this.review(tenant, reviewId)).record
    for await (const { events } of this.tail({ tenant, conversation }, { after: seq, ...(signal ? { signal } : {}) })) {
      if (events.some(event => event.type === 'task_create_review_resolved' && event.data.review_id === reviewId)) {
        return (await this.review(tenant, reviewId)).record
      }
    }
    throw signal?.aborted ? signal.reason : new StoreError('closed', 'Closed while the review was waiting.')
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#deadlines.stop()
    await this.store.close()
  }

  #untilEnd(signal: AbortSignal | undefined): AbortSignal {
    const ending = this.#ending.signal
    return signal ? AbortSignal.any([signal, ending]) : ending
  }

  /** What a commit of ours makes due sooner is looked at in time; the rest is found by looking now and then. */
  #noteDeadline({ events, conversation }: Committed<unknown>): void {
    const last = events.at(-1)
    if (!last || conversation.pending_reviews.length === 0) return
    const next = nextDeadline(conversation)
    if (next) this.#deadlines.within(Date.parse(next) - Date.parse(last.timestamp))
  }
}

function checkIds({ tenant, conversation }: Ref): void {
  if (!isId(tenant)) throw invalidId('tenant')
  if (!isId(conversation)) throw invalidId('session_id')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, entry]) => [key, sorted(entry)]))
}
