import { type Instant, instantOf } from '../../core/model/instant.ts'
import { StoreError } from '../store-error.ts'
import { Group } from '../group.ts'
import { type Call, type Basis, stage, type Staged } from '../stage.ts'
import { type At, type Committed, type Decide, type Hint, type Ref, refKey } from '../store.ts'
import type { Database } from './connections.ts'
import type { Session } from './session.ts'
import { busy, connectionError, isRolledBack, toStoreError, unknownOutcome } from './to-store-error.ts'
import type { PostgresLog } from './log.ts'

/**
 * Points at which tests cut the connection. Up to `written` nothing has happened; from `committing` on the outcome is
 * unknown.
 */
export type PostgresFaultPoint = 'begun' | 'staged' | 'written' | 'committing' | 'committed'

export interface CommitsOptions {
  readonly callMs: number
  readonly skewMs: () => number
  readonly onFaultPoint: (point: PostgresFaultPoint) => void | Promise<void>
  readonly onCommitted: (hint: Hint) => void
}

/** Extra time for a call: to write after a lock acquired at the last moment, or to learn why it failed. */
const GRACE_MS = 250

interface TimedCall extends Call {
  /** By `performance.now()`. */
  readonly until: number
  /** In a transaction being written, which will answer it. */
  isStaged: boolean
  /** An attempt was lost during COMMIT; its idempotency key will show the outcome. */
  isUnsure: boolean
  /** Lost during COMMIT without a key: already rejected. */
  isLost: boolean
}

interface Batch {
  left: readonly TimedCall[]
}

interface Outcome {
  readonly call: TimedCall
  readonly wrote: boolean
  readonly answer: () => void
}

interface Queue {
  readonly group: Group<TimedCall>
  waiting: number
}

/** Commits the calls of one conversation in groups. Conversations do not wait for each other. */
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
    const { callMs } = this.#options
    const key = refKey(at)
    const queue = this.#queues.get(key) ?? { group: new Group<TimedCall>(calls => this.#serve(at, calls)), waiting: 0 }
    this.#queues.set(key, queue)
    queue.waiting += 1
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<Committed<T>>((resolve, reject) => {
        const call: TimedCall = {
          at,
          decide,
          resolve: resolve as Call['resolve'],
          reject,
          until: performance.now() + callMs,
          isStaged: false,
          isUnsure: false,
          isLost: false,
        }
        timer = setTimeout(() => rejectLate(call, busy()), callMs + GRACE_MS)
        queue.group.add(call)
      })
    } finally {
      clearTimeout(timer)
      queue.waiting -= 1
      if (queue.waiting === 0) this.#queues.delete(key)
    }
  }

  /** Resolves when no call is in progress. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) await Promise.all([...this.#queues.values()].map(({ group }) => group.idle()))
  }

  async #serve(ref: Ref, calls: readonly TimedCall[]): Promise<void> {
    const ms = Math.max(...calls.map(msLeft))
    if (ms <= 0) return
    const batch: Batch = { left: calls }
    try {
      await this.#database.use(session => this.#attempt(session, ref, batch), { ms })
    } catch (error) {
      const { left } = batch
      // One call that cannot be written must not fail the others. If the database itself fails, retrying one by one
      // would only fail again.
      if (left.length > 1 && (!(error instanceof StoreError) || error.code === 'id_taken')) {
        for (const call of left) await this.#serve(ref, [call])
      } else {
        for (const call of left) call.reject(call.isUnsure ? unknownOutcome(error) : error)
      }
    }
  }

  /** Runs one transaction. Throws if it can be retried; `batch.left` then holds the unanswered calls. */
  async #attempt(session: Session, ref: Ref, batch: Batch): Promise<void> {
    const { skewMs, onFaultPoint } = this.#options
    const { basis, clock } = await this.#log.take(session, ref, batch.left)
    await onFaultPoint('begun')
    // The other calls timed out during the wait for the lock.
    const calls = batch.left.filter(call => msLeft(call) > 0)
    if (calls.length === 0) return
    for (const call of calls) call.isStaged = true
    session.limit(Math.max(GRACE_MS, Math.min(...calls.map(msLeft))))
    try {
      const { staged, outcomes } = decided(calls, basis, instantOf(clock + skewMs()))
      await onFaultPoint('staged')
      await this.#write(session, ref, staged, outcomes)
    } catch (error) {
      const why = session.lost ? connectionError(error) : toStoreError(error)
      for (const call of calls) {
        call.isStaged = false
        if (msLeft(call) <= 0) rejectLate(call, why)
      }
      batch.left = calls.filter(call => !call.isLost)
      if (batch.left.length > 0) throw error
    }
  }

  async #write(session: Session, ref: Ref, staged: Staged, outcomes: readonly Outcome[]): Promise<void> {
    const { onFaultPoint, onCommitted } = this.#options
    if (staged.commits.length > 0 || staged.keys.length > 0) {
      const remember = await this.#log.write(session, ref, staged)
      await onFaultPoint('written')
      if (session.lost) throw new Error('The connection was lost before COMMIT')
      if (session.msLeft <= 0) throw busy()
      // Leaves time to check afterwards whether it was written, if keys can show that.
      if (outcomes.every(canBeRetried)) session.limit(session.msLeft / 2)
      try {
        await onFaultPoint('committing')
        await session.query({ text: 'COMMIT' })
      } catch (error) {
        session.discard()
        if (!isRolledBack(error)) noteLostCommit(outcomes, error)
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

const msLeft = ({ until }: TimedCall): number => until - performance.now()

function rejectLate(call: TimedCall, why: unknown): void {
  if (!call.isStaged) call.reject(call.isUnsure ? unknownOutcome(why) : why)
}

function decided(calls: readonly TimedCall[], basis: Basis, now: Instant): { staged: Staged; outcomes: Outcome[] } {
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

/** After a lost COMMIT: calls that wrote nothing, and calls with a key, which shows whether they were written. */
const canBeRetried = ({ call, wrote }: Outcome): boolean => !wrote || call.at.once !== undefined

function noteLostCommit(outcomes: readonly Outcome[], error: unknown): void {
  for (const outcome of outcomes) {
    const { call, wrote } = outcome
    if (canBeRetried(outcome)) {
      call.isUnsure ||= wrote
      continue
    }
    call.isLost = true
    call.reject(unknownOutcome(error))
  }
}
