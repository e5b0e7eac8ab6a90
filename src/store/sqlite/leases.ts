import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type Instant, plusMs } from '../../domain/instant.ts'
import { isExclusive, type Need } from '../../domain/needs.ts'
import type { StoreClock } from '../clock.ts'
import { LeaseWatch } from '../lease-watch.ts'
import type { ClaimOptions, DueReview, Lease } from '../store.ts'
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

  claim(runner: string, ttlMs: number, { abilities, wanted }: ClaimOptions): Lease | undefined {
    const needs = JSON.stringify(abilities)
    const turns = (
      wanted
        ? this.#sql.wanted.all(needs, wanted.tenant, wanted.conversation, wanted.turn)
        : this.#sql.needing.all(needs)
    ).map(turnOf)
    // All are looked at, also behind one that is free: a lease counts from when it is first seen.
    const isHeld = turns.map(turn => this.#isHeld(turn))
    const served = this.#servedOf(abilities.filter(isExclusive))
    const free = turns.find(({ needs: need }, index) => !isHeld[index] && !served.has(need))
    if (!free) return undefined
    if (isExclusive(free.needs)) this.#sql.overtake.run(free.needs)
    const { tenant, conversation, turn } = free
    const lease = { tenant, conversation, turn, attempt: free.attempt + 1 }
    const until = plusMs(this.#clock.now(), ttlMs)
    this.#sql.take.run(runner, until, ttlMs, free.needs, lease.attempt, tenant, conversation, turn)
    this.#watch.saw({ ...lease, until })
    return lease
  }

  served(need: Need): boolean {
    return this.#servedOf([need]).has(need)
  }

  renew({ tenant, conversation, turn, attempt }: Lease, ttlMs: number): boolean {
    const until = plusMs(this.#clock.now(), ttlMs)
    return this.#sql.renew.run(until, ttlMs, tenant, conversation, turn, attempt).changes > 0
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

  /** Those of the needs that a lease is held for. */
  #servedOf(needs: readonly Need[]): ReadonlySet<Need | null> {
    const turns = this.#sql.serving.all(JSON.stringify(needs)).map(turnOf)
    return new Set(turns.filter(turn => this.#isHeld(turn)).map(({ serves }) => serves))
  }

  #isHeld({ until, lasts_ms, ...lease }: LeasedTurn): boolean {
    return until !== null && !this.#watch.isOver({ ...lease, until }, lasts_ms)
  }
}

/** A turn that needs something or is leased, and its lease. */
interface LeasedTurn extends Lease {
  readonly needs: Need | null
  /** The need that the lease was claimed for. */
  readonly serves: Need | null
  readonly until: string | null
  readonly lasts_ms: number
}

type Row = Readonly<Record<string, SQLOutputValue>>

const turnOf = (row: Row): LeasedTurn => ({
  ...refOf(row),
  turn: String(row['turn']),
  attempt: Number(row['attempt']),
  needs: row['needs'] as Need | null,
  serves: row['serves'] as Need | null,
  until: row['until'] === null ? null : String(row['until']),
  lasts_ms: Number(row['lasts_ms']),
})

function statements(db: DatabaseSync) {
  const turns = 'SELECT tenant, conversation, turn, attempt, needs, serves, until, lasts_ms FROM turns'
  const needing = `${turns} WHERE needs IN (SELECT value FROM json_each(?))`
  const end = 'UPDATE turns SET until = NULL, lasts_ms = NULL, serves = NULL, runner = NULL'
  return {
    // Those without a lease first.
    needing: db.prepare(`${needing} ORDER BY until`),
    wanted: db.prepare(`${needing} AND tenant = ? AND conversation = ? AND turn = ?`),
    serving: db.prepare(`${turns} WHERE serves IN (SELECT value FROM json_each(?))`),
    // Their holders may be late, and must not go on.
    overtake: db.prepare(`${end}, attempt = attempt + 1 WHERE serves = ?`),
    take: db.prepare(
      `UPDATE turns SET runner = ?, until = ?, lasts_ms = ?, serves = ?, attempt = ?
       WHERE tenant = ? AND conversation = ? AND turn = ?`,
    ),
    renew: db.prepare(
      `UPDATE turns SET until = ?, lasts_ms = ?
       WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ? AND until IS NOT NULL`,
    ),
    release: db.prepare(`${end} WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ?`),
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
