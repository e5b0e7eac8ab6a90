import { type Instant, instantOf } from '../../domain/instant.ts'
import { StoreError } from '../store-error.ts'
import { Group } from '../group.ts'
import { type Call, type Ground, stage, type Staged } from '../stage.ts'
import { type At, type Committed, type Decide, type Hint, type Ref, refKey } from '../store.ts'
import type { Database, Session } from './connections.ts'
import { unknownOutcome } from './to-store-error.ts'
import type { PostgresLog } from './log.ts'

/** Where a test may cut the line. Up to `written` nothing has happened; from `committing` on nobody knows. */
export type PostgresFaultPoint = 'begun' | 'staged' | 'written' | 'committing' | 'committed'

export interface CommitsOptions {
  readonly skewMs: () => number
  readonly onFaultPoint: (point: PostgresFaultPoint) => void | Promise<void>
  readonly onCommitted: (hint: Hint) => void
}

/** Calls that share a transaction. */
interface Batch {
  /** Those who wait for an answer. */
  left: readonly Call[]
  /** Those of them whose last try got lost while it was being committed. */
  readonly unsure: Set<Call>
}

/** How one call ended: it is told once the transaction has. */
interface Outcome {
  readonly call: Call
  readonly wrote: boolean
  readonly answer: () => void
}

/** The callers of one conversation, and how many of them still wait. */
interface Line {
  readonly group: Group<Call>
  waiting: number
}

/** Commits the calls on one conversation together, one group after the other; those on others go on beside them. */
export class Commits {
  readonly #database: Database
  readonly #log: PostgresLog
  readonly #options: CommitsOptions
  readonly #lines = new Map<string, Line>()

  constructor(database: Database, log: PostgresLog, options: CommitsOptions) {
    this.#database = database
    this.#log = log
    this.#options = options
  }

  async commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    const key = refKey(at)
    const line = this.#lines.get(key) ?? { group: new Group<Call>(calls => this.#serve(at, calls)), waiting: 0 }
    this.#lines.set(key, line)
    line.waiting += 1
    try {
      return await new Promise<Committed<T>>((resolve, reject) => {
        line.group.add({ at, decide, resolve: resolve as Call['resolve'], reject })
      })
    } finally {
      line.waiting -= 1
      if (line.waiting === 0) this.#lines.delete(key)
    }
  }

  async #serve(ref: Ref, calls: readonly Call[], unsure = new Set<Call>()): Promise<void> {
    const batch: Batch = { left: calls, unsure }
    try {
      await this.#database.use(session => this.#attempt(session, ref, batch))
    } catch (error) {
      const { left } = batch
      // One that cannot be written must not take the others with it; a database that fails would only fail again.
      if (left.length > 1 && (!(error instanceof StoreError) || error.code === 'id_taken')) {
        for (const call of left) await this.#serve(ref, [call], unsure)
      } else {
        for (const call of left) call.reject(unsure.has(call) ? unknownOutcome(error) : error)
      }
    }
  }

  /** One transaction. It is thrown out of as long as it can be tried again; nobody who is left was answered then. */
  async #attempt(session: Session, ref: Ref, batch: Batch): Promise<void> {
    const { skewMs, onFaultPoint, onCommitted } = this.#options
    const { ground, clock } = await this.#log.take(session, ref, batch.left)
    await onFaultPoint('begun')
    const { staged, outcomes } = decided(batch.left, ground, instantOf(clock + skewMs()))
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

/** Decides the calls, and keeps what each is to be told until the transaction has ended. */
function decided(calls: readonly Call[], ground: Ground, now: Instant): { staged: Staged; outcomes: Outcome[] } {
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
  const staged = stage(asked, ground, now)
  staged.rejectRefused()
  staged.resolve()
  return { staged, outcomes }
}

/**
 * Whoever wrote nothing can be decided again, and so can whoever has a key: it tells whether it was written. The others
 * are told that nobody knows.
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
