import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type Instant, plusMs } from '../../domain/instant.ts'
import type { StoreClock } from '../clock.ts'
import { LeaseWatch } from '../lease-watch.ts'
import type { DueReview, Lease, Ref } from '../store.ts'
import { refOf } from './queries.ts'

/** Leases of turns and deadlines of reviews. */
export class SqliteLeases {
  readonly #sql
  readonly #clock: StoreClock
  readonly #watch: LeaseWatch

  constructor(db: DatabaseSync, clock: StoreClock) {
    this.#sql = statements(db)
    this.#clock = clock
    this.#watch = new LeaseWatch(() => clock.elapsed())
  }

  claim(runner: string, ttlMs: number, wanted?: Ref & { turn: string }): Lease | undefined {
    const turns = (
      wanted ? this.#sql.drivable.all(wanted.tenant, wanted.conversation, wanted.turn) : this.#sql.allDrivable.all()
    ).map(turnOf)
    // All are looked at, also behind one that is free: a lease counts from when it is first seen.
    const isFree = turns.map(({ until, ...lease }) => until === null || this.#watch.isOver({ ...lease, until }, ttlMs))
    const free = turns.find((_, index) => isFree[index])
    if (!free) return undefined
    const { until: _, ...lease } = { ...free, attempt: free.attempt + 1 }
    const until = plusMs(this.#clock.now(), ttlMs)
    this.#sql.take.run(runner, until, lease.attempt, lease.tenant, lease.conversation, lease.turn)
    this.#watch.saw({ ...lease, until })
    return lease
  }

  renew({ tenant, conversation, turn, attempt }: Lease, ttlMs: number): boolean {
    const until = plusMs(this.#clock.now(), ttlMs)
    return this.#sql.renew.run(until, tenant, conversation, turn, attempt).changes > 0
  }

  release({ tenant, conversation, turn, attempt }: Lease): void {
    this.#sql.release.run(tenant, conversation, turn, attempt)
  }

  due(limit: number): { reviews: DueReview[]; next?: Instant } {
    this.catchUp()
    const now = this.#clock.now()
    const reviews = this.#sql.due.all(now, limit).map(row => ({ ...refOf(row), review_id: String(row['review_id']) }))
    const next = this.#sql.nextDue.get(now)?.['due_at']
    return { reviews, ...(typeof next === 'string' ? { next } : {}) }
  }

  /** Whether a review waits for its deadline. */
  isAwaited(): boolean {
    return this.#sql.anyDue.get() !== undefined
  }

  /** Lets the clock go on from the log of the review that is due next, if that is ahead of it. */
  catchUp(): void {
    const next = this.#sql.nextDue.get(this.#clock.now())
    const loggedAt = next && this.#sql.loggedAt.get(String(next['tenant']), String(next['conversation']))
    if (loggedAt) this.#clock.catchUp(String(loggedAt['timestamp']))
  }
}

type Row = Readonly<Record<string, SQLOutputValue>>

const turnOf = (row: Row): Lease & { readonly until: string | null } => ({
  ...refOf(row),
  turn: String(row['turn']),
  attempt: Number(row['attempt']),
  until: row['until'] === null ? null : String(row['until']),
})

function statements(db: DatabaseSync) {
  const drivable = `SELECT tenant, conversation, turn, attempt, until FROM turns WHERE status = 'running' AND parked = 0`
  return {
    // Those without a lease first.
    allDrivable: db.prepare(`${drivable} ORDER BY until`),
    drivable: db.prepare(`${drivable} AND tenant = ? AND conversation = ? AND turn = ?`),
    take: db.prepare(
      'UPDATE turns SET runner = ?, until = ?, attempt = ? WHERE tenant = ? AND conversation = ? AND turn = ?',
    ),
    renew: db.prepare(
      'UPDATE turns SET until = ? WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ? AND until IS NOT NULL',
    ),
    release: db.prepare(
      'UPDATE turns SET until = NULL, runner = NULL WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ?',
    ),
    due: db.prepare(
      'SELECT tenant, conversation, id AS review_id FROM reviews WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?',
    ),
    nextDue: db.prepare('SELECT tenant, conversation, due_at FROM reviews WHERE due_at > ? ORDER BY due_at LIMIT 1'),
    anyDue: db.prepare('SELECT 1 FROM reviews WHERE due_at IS NOT NULL LIMIT 1'),
    loggedAt: db.prepare(
      `SELECT timestamp FROM events WHERE conversation_id =
         (SELECT id FROM conversations WHERE tenant = ? AND conversation = ?) ORDER BY seq DESC LIMIT 1`,
    ),
  }
}
