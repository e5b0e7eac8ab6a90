import { type Instant, instantOf } from '../../domain/instant.ts'
import { StoreError } from '../store-error.ts'
import { Batcher } from '../batcher.ts'
import { type Call, type Basis, stage, type Staged } from '../stage.ts'
import { type At, type Committed, type Decide, type Hint, type Ref, refKey } from '../store.ts'
import type { Database, Session } from './connections.ts'
import { unknownOutcome } from './to-store-error.ts'
import type { PostgresLog } from './log.ts'

/** Where a test may cut the connection. Up to `written` nothing is committed; from `committing` on it is unknown. */
export type PostgresFaultPoint = 'begun' | 'staged' | 'written' | 'committing' | 'committed'

export interface CommitsOptions {
  readonly skewMs: () => number
  readonly onFaultPoint: (point: PostgresFaultPoint) => void | Promise<void>
  readonly onCommitted: (hint: Hint) => void
}

/** Calls that share a transaction. */
interface Batch {
  /** Calls without an answer so far. */
  left: readonly Call[]
  /** Calls whose last attempt was lost during COMMIT. */
  readonly inDoubt: Set<Call>
}

/** A decided call, to be answered after the transaction. */
interface Outcome {
  readonly call: Call
  readonly wrote: boolean
  readonly answer: () => void
}

/** The waiting calls of one conversation. */
interface Queue {
  readonly batcher: Batcher<Call>
  waiting: number
}

/** Commits each conversation's calls in batches, one after the other; conversations commit in parallel. */
export class Commits {
  readonly #database: Database
  readonly #log: PostgresLog
  readonly #options: CommitsOptions
  readonly #queues = new Map<string, Queue>()

  constructor(database: Database, log: PostgresLog, options: CommitsOptions) {
    this.#database = database
    this.#log = log
    this.#options = options
  }

  async commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    const key = refKey(at)
    const queue = this.#queues.get(key) ?? { batcher: new Batcher<Call>(calls => this.#serve(at, calls)), waiting: 0 }
    this.#queues.set(key, queue)
    queue.waiting += 1
    try {
      return await new Promise<Committed<T>>((resolve, reject) => {
        queue.batcher.add({ at, decide, resolve: resolve as Call['resolve'], reject })
      })
    } finally {
      queue.waiting -= 1
      if (queue.waiting === 0) this.#queues.delete(key)
    }
  }

  async #serve(ref: Ref, calls: readonly Call[], inDoubt = new Set<Call>()): Promise<void> {
    const batch: Batch = { left: calls, inDoubt }
    try {
      await this.#database.use(session => this.#attempt(session, ref, batch))
    } catch (error) {
      const { left } = batch
      // A call that cannot be written must not fail the others; but if the database fails, retrying is pointless.
      if (left.length > 1 && (!(error instanceof StoreError) || error.code === 'id_taken')) {
        for (const call of left) await this.#serve(ref, [call], inDoubt)
      } else {
        for (const call of left) call.reject(inDoubt.has(call) ? unknownOutcome(error) : error)
      }
    }
  }

  /** One transaction. Throws if it can be retried; the calls in `batch.left` are not answered then. */
  async #attempt(session: Session, ref: Ref, batch: Batch): Promise<void> {
    const { skewMs, onFaultPoint, onCommitted } = this.#options
    const { basis, clock } = await this.#log.lock(session, ref, batch.left)
    await onFaultPoint('begun')
    const { staged, outcomes } = decided(batch.left, basis, instantOf(clock + skewMs()))
    await onFaultPoint('staged')
    if (staged.commits.length > 0 || staged.keys.length > 0) {
      const updateCache = await this.#log.write(session, ref, staged)
      await onFaultPoint('written')
      if (session.lost) throw new Error('The connection was lost before COMMIT')
      try {
        await onFaultPoint('committing')
        await session.query({ text: 'COMMIT' })
      } catch (error) {
        session.discard()
        const retried = afterLostCommit(outcomes, batch.inDoubt, error)
        batch.left = batch.left.filter(call => retried.has(call))
        if (batch.left.length === 0) return
        throw error
      }
      updateCache()
      await onFaultPoint('committed')
    }
    for (const { answer } of outcomes) answer()
    const { tenant, conversation } = ref
    if (staged.commits.length > 0) onCommitted({ tenant, conversation, kind: 'log', seq: staged.after.seq })
  }
}

/** Decides the calls, and holds their answers back until the transaction has ended. */
function decided(calls: readonly Call[], basis: Basis, now: Instant): { staged: Staged; outcomes: Outcome[] } {
  const outcomes: Outcome[] = []
  const held = calls.map(call => ({
    at: call.at,
    decide: call.decide,
    resolve: (committed: Committed<unknown>) => {
      const wrote = committed.events.length > 0 || staged.keys.some(({ key }) => key === call.at.once?.key)
      outcomes.push({ call, wrote, answer: () => call.resolve(committed) })
    },
    reject: (error: unknown) => {
      outcomes.push({ call, wrote: false, answer: () => call.reject(error) })
    },
  }))
  const staged = stage(held, basis, now)
  staged.rejectRefused()
  staged.resolve()
  return { staged, outcomes }
}

/**
 * The calls to retry: those that wrote nothing, and those with a key, which tells whether they were written. The others
 * fail with `unknown_outcome`.
 */
function afterLostCommit(outcomes: readonly Outcome[], inDoubt: Set<Call>, error: unknown): Set<Call> {
  const retried = new Set<Call>()
  for (const { call, wrote } of outcomes) {
    if (wrote && !call.at.once) {
      call.reject(unknownOutcome(error))
      continue
    }
    if (wrote) inDoubt.add(call)
    retried.add(call)
  }
  return retried
}
