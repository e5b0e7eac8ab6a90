import { instantOf } from '../../core/model/instant.ts'
import { Group, called, stage, type Call } from '../stage.ts'
import { StoreError } from '../store-error.ts'
import { refKey, type At, type Committed, type Decide, type Hint, type Ref } from '../store.ts'
import type { Connections, Session } from './connections.ts'
import type { PostgresLog } from './log.ts'
import { busy, isRolledBack, unknownOutcome } from './to-store-error.ts'

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

/** The calls of a group that are not answered yet. */
interface Batch {
  calls: readonly TimedCall[]
  /** An attempt was lost during COMMIT; the keys of the calls will show the outcome. */
  isUnsure: boolean
}

interface TimedCall extends Call {
  /** By `performance.now()`. */
  readonly until: number
}

/** Commits the calls of one conversation in groups. Conversations do not wait for each other. */
export class Commits {
  readonly #database: Connections
  readonly #log: PostgresLog
  readonly #options: CommitsOptions
  readonly #groups = new Map<string, Group<TimedCall>>()

  constructor(database: Connections, log: PostgresLog, options: CommitsOptions) {
    this.#database = database
    this.#log = log
    this.#options = options
  }

  commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    const until = performance.now() + this.#options.callMs
    return called(at, decide, call => this.#groupOf(at).add({ ...call, until }))
  }

  /** Resolves when no call is in progress. */
  async idle(): Promise<void> {
    while (this.#groups.size > 0) await Promise.all([...this.#groups.values()].map(group => group.idle()))
  }

  #groupOf(ref: Ref): Group<TimedCall> {
    const key = refKey(ref)
    const known = this.#groups.get(key)
    if (known) return known
    const group = new Group<TimedCall>(
      calls => this.#serve(ref, calls),
      () => this.#groups.delete(key),
    )
    this.#groups.set(key, group)
    return group
  }

  /** A group has the time of its oldest call. */
  async #serve(ref: Ref, calls: readonly TimedCall[]): Promise<void> {
    const batch: Batch = { calls, isUnsure: false }
    try {
      const ms = Math.min(...calls.map(({ until }) => until)) - performance.now()
      if (ms <= 0) throw busy()
      await this.#database.use(session => this.#attempt(session, ref, batch), { ms })
    } catch (error) {
      // One call that cannot be written must not fail the others. If the database itself fails, retrying one by one
      // would only fail again.
      if (batch.calls.length > 1 && (!(error instanceof StoreError) || error.code === 'id_taken')) {
        for (const call of batch.calls) await this.#serve(ref, [call])
      } else {
        for (const call of batch.calls) call.reject(batch.isUnsure ? unknownOutcome(error) : error)
      }
    }
  }

  /** Runs one transaction. Throws if it can be retried. */
  async #attempt(session: Session, ref: Ref, batch: Batch): Promise<void> {
    const { skewMs, onFaultPoint, onCommitted } = this.#options
    const { basis, clock } = await this.#log.take(session, ref, batch.calls)
    await onFaultPoint('begun')
    const staged = stage(batch.calls, basis, instantOf(clock + skewMs()))
    await onFaultPoint('staged')
    if (staged.commits.length > 0 || staged.keys.length > 0) {
      const remember = await this.#log.write(session, ref, staged)
      await onFaultPoint('written')
      if (session.lost) throw new Error('The connection was lost before COMMIT')
      if (session.msLeft <= 0) throw busy()
      // Leaves time to ask afterwards whether it was written.
      if (batch.calls.every(({ at }) => at.once)) session.limit(session.msLeft / 2)
      try {
        await onFaultPoint('committing')
        await session.query('COMMIT')
      } catch (error) {
        session.discard()
        if (!isRolledBack(error)) noteLostCommit(batch, error)
        if (batch.calls.length > 0) throw error
        return
      }
      remember()
      await onFaultPoint('committed')
    }
    staged.rejectRefused()
    staged.resolve()
    const { tenant, conversation } = ref
    if (staged.commits.length > 0) onCommitted({ tenant, conversation, kind: 'log', seq: staged.after.seq })
  }
}

/** Only a key can show whether a call was written. */
function noteLostCommit(batch: Batch, error: unknown): void {
  for (const { at, reject } of batch.calls) if (!at.once) reject(unknownOutcome(error))
  batch.calls = batch.calls.filter(({ at }) => at.once)
  batch.isUnsure = true
}
