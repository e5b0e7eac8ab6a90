import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type Instant, plusMs } from '../../core/model/instant.ts'
import { isExclusive, type Need } from '../../core/model/needs.ts'
import { dueBy, type StoreClock } from '../clock.ts'
import { LeaseWatch } from '../lease-watch.ts'
import type { ClaimOptions, DueReview, Lease } from '../store.ts'
import { refOf } from './queries.ts'

/** Batch size when reloading reviews after the first pass, which reads all. */
const LOGS_AT_A_TIME = 200

export class SqliteLeases {
  readonly #sql
  readonly #clock: StoreClock
  readonly #watch: LeaseWatch
  #lookedAt: Instant | undefined

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
    // Checks all of them, not only up to the first free one, because a lease's time counts from its first sighting.
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
    const now = this.#clock.now()
    this.#noteLogsAhead(now)
    const reviews = this.#sql.due.all(now, limit).map(reviewOf)
    if (this.#clock.hasLogsAhead) return this.#dueByLogs(now, limit, reviews)
    const next = this.#sql.nextDue.get(now)?.['due_at']
    return { reviews, ...(typeof next === 'string' ? { next } : {}) }
  }

  isAwaited(): boolean {
    return this.#sql.anyDue.get() !== undefined
  }

  /** Finds logs written by a process whose clock is ahead of ours. In batches, since many reviews may wait. */
  #noteLogsAhead(now: Instant): void {
    const most = this.#lookedAt === undefined ? -1 : LOGS_AT_A_TIME
    const from = this.#lookedAt !== undefined && this.#lookedAt > now ? this.#lookedAt : now
    const rows = this.#sql.logged.all(from, most)
    for (const row of rows) this.#clock.aheadMs(refOf(row), String(row['timestamp']))
    const isFull = rows.length === LOGS_AT_A_TIME
    this.#lookedAt = isFull ? String(rows.at(-1)?.['due_at']) : now
  }

  /** Adds the reviews that are due by the time of their own logs. */
  #dueByLogs(now: Instant, limit: number, reviews: readonly DueReview[]): { reviews: DueReview[]; next?: Instant } {
    const later = this.#sql.later.all(now).map(row => ({
      review: reviewOf(row),
      due_at: plusMs(String(row['due_at']), -this.#clock.aheadMs(refOf(row), null)),
    }))
    const due = dueBy(later, now)
    return { ...due, reviews: [...reviews, ...due.reviews].slice(0, limit) }
  }

  #servedOf(needs: readonly Need[]): ReadonlySet<Need | null> {
    const turns = this.#sql.serving.all(JSON.stringify(needs)).map(turnOf)
    return new Set(turns.filter(turn => this.#isHeld(turn)).map(({ serves }) => serves))
  }

  #isHeld({ until, lasts_ms, ...lease }: LeasedTurn): boolean {
    return until !== null && !this.#watch.isOver({ ...lease, until }, lasts_ms)
  }
}

interface LeasedTurn extends Lease {
  readonly needs: Need | null
  /** The need that the lease was claimed for. */
  readonly serves: Need | null
  readonly until: string | null
  readonly lasts_ms: number
}

type Row = Readonly<Record<string, SQLOutputValue>>

const reviewOf = (row: Row): DueReview => ({ ...refOf(row), review_id: String(row['review_id']) })

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
    // Unleased turns first.
    needing: db.prepare(`${needing} ORDER BY until`),
    wanted: db.prepare(`${needing} AND tenant = ? AND conversation = ? AND turn = ?`),
    serving: db.prepare(`${turns} WHERE serves IN (SELECT value FROM json_each(?))`),
    // Fences late holders.
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
    nextDue: db.prepare('SELECT min(due_at) AS due_at FROM reviews WHERE due_at > ?'),
    later: db.prepare('SELECT tenant, conversation, id AS review_id, due_at FROM reviews WHERE due_at > ?'),
    anyDue: db.prepare('SELECT 1 FROM reviews WHERE due_at IS NOT NULL LIMIT 1'),
    logged: db.prepare(
      `SELECT r.tenant, r.conversation, r.due_at, e.timestamp
       FROM (SELECT tenant, conversation, due_at FROM reviews WHERE due_at > ? ORDER BY due_at LIMIT ?) r
       JOIN conversations c USING (tenant, conversation)
       JOIN events e ON e.conversation_id = c.id AND e.seq = (SELECT max(seq) FROM events WHERE conversation_id = c.id)
       ORDER BY r.due_at`,
    ),
  }
}
