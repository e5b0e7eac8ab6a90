import { type Instant, instantOf } from '../../domain/instant.ts'
import { StoreError } from '../store-error.ts'
import { Group } from '../group.ts'
import { type Call, type Basis, stage, type Staged } from '../stage.ts'
import { type At, type Committed, type Decide, type Hint, type Ref, refKey } from '../store.ts'
import type { Database, Session } from './connections.ts'
import { unknownOutcome } from './to-store-error.ts'
import type { PostgresLog } from './log.ts'

/** Where tests cut the connection. Up to `written` nothing has happened; from `committing` on the outcome is unknown. */
export type PostgresFaultPoint = 'begun' | 'staged' | 'written' | 'committing' | 'committed'

export interface CommitsOptions {
  readonly skewMs: () => number
  readonly onFaultPoint: (point: PostgresFaultPoint) => void | Promise<void>
  readonly onCommitted: (hint: Hint) => void
}

/** Calls that share a transaction. */
interface Batch {
  /** Not answered yet. */
  left: readonly Call[]
  /** Those whose last attempt was lost during COMMIT. */
  readonly unsure: Set<Call>
}

/** How one call ended; answered once the transaction has ended. */
interface Outcome {
  readonly call: Call
  readonly wrote: boolean
  readonly answer: () => void
}

/** The queue of one conversation, and how many calls still wait in it. */
interface Queue {
  readonly group: Group<Call>
  waiting: number
}

/** Commits the calls of one conversation group by group; conversations do not wait for each other. */
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
    const queue = this.#queues.get(key) ?? { group: new Group<Call>(calls => this.#serve(at, calls)), waiting: 0 }
    this.#queues.set(key, queue)
    queue.waiting += 1
    try {
      return await new Promise<Committed<T>>((resolve, reject) => {
        queue.group.add({ at, decide, resolve: resolve as Call['resolve'], reject })
      })
    } finally {
      queue.waiting -= 1
      if (queue.waiting === 0) this.#queues.delete(key)
    }
  }

  async #serve(ref: Ref, calls: readonly Call[], unsure = new Set<Call>()): Promise<void> {
    const batch: Batch = { left: calls, unsure }
    try {
      await this.#database.use(session => this.#attempt(session, ref, batch))
    } catch (error) {
      const { left } = batch
      // One that cannot be written must not fail the others; a failing database would only fail again.
      if (left.length > 1 && (!(error instanceof StoreError) || error.code === 'id_taken')) {
        for (const call of left) await this.#serve(ref, [call], unsure)
      } else {
        for (const call of left) call.reject(unsure.has(call) ? unknownOutcome(error) : error)
      }
    }
  }

  /** One transaction. Throws if it can be retried; calls that are left were not answered. */
  async #attempt(session: Session, ref: Ref, batch: Batch): Promise<void> {
    const { skewMs, onFaultPoint, onCommitted } = this.#options
    const { basis, clock } = await this.#log.take(session, ref, batch.left)
    await onFaultPoint('begun')
    const { staged, outcomes } = decided(batch.left, basis, instantOf(clock + skewMs()))
    await onFaultPoint('staged')
    if (staged.commits.length > 0 || staged.keys.length > 0) {
      const remember = await this.#log.write(session, ref, staged)
      await onFaultPoint('written')
      if (session.lost) throw new Error('The connection was lost before COMMIT')
      try {
        await onFaultPoint('committing')
        await session.query({ text: 'COMMIT' })
      } catch (error) {
        session.discard()
        const again = afterLostCommit(outcomes, batch.unsure, error)
        batch.left = batch.left.filter(call => again.has(call))
        if (batch.left.length === 0) return
        throw error
      }
      remember()
      await onFaultPoint('committed')
    }
    for (const { answer } of outcomes) answer()
    const { tenant, conversation } = ref
    if (staged.commits.length > 0) onCommitted({ tenant, conversation, kind: 'log', seq: staged.after.seq })
  }
}

/** Decides the calls and keeps their answers until the transaction has ended. */
function decided(calls: readonly Call[], basis: Basis, now: Instant): { staged: Staged; outcomes: Outcome[] } {
  const outcomes: Outcome[] = []
  const asked = calls.map(call => ({
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
  const staged = stage(asked, basis, now)
  staged.rejectRefused()
  staged.resolve()
  return { staged, outcomes }
}

/**
 * Calls that wrote nothing can be retried, and so can calls with a key, which shows whether they were written. The others
 * are rejected: their outcome is unknown.
 */
function afterLostCommit(outcomes: readonly Outcome[], unsure: Set<Call>, error: unknown): Set<Call> {
  const again = new Set<Call>()
  for (const { call, wrote } of outcomes) {
    if (wrote && !call.at.once) {
      call.reject(unknownOutcome(error))
      continue
    }
    if (wrote) unsure.add(call)
    again.add(call)
  }
  return again
}
