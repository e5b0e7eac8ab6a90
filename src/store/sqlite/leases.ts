import type { DatabaseSync } from 'node:sqlite'
import { type Instant, plusMs } from '../../domain/instant.ts'
import type { DueReview, Lease, Ref } from '../store.ts'
import { refOf } from './queries.ts'

/** Leases of turns and deadlines of reviews, compared with the store's clock. */
export class SqliteLeases {
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#sql = statements(db)
  }

  claim(now: Instant, runner: string, ttlMs: number, wanted?: Ref & { turn: string }): Lease | undefined {
    const until = plusMs(now, ttlMs)
    const row = wanted
      ? this.#sql.claimWanted.get(runner, until, wanted.tenant, wanted.conversation, wanted.turn, now)
      : this.#sql.claimAny.get(runner, until, now)
    return row && { ...refOf(row), turn: String(row['turn']), attempt: Number(row['attempt']) }
  }

  renew(now: Instant, { tenant, conversation, turn, attempt }: Lease, ttlMs: number): boolean {
    return this.#sql.renew.run(plusMs(now, ttlMs), tenant, conversation, turn, attempt).changes > 0
  }

  release({ tenant, conversation, turn, attempt }: Lease): void {
    this.#sql.release.run(tenant, conversation, turn, attempt)
  }

  due(now: Instant, limit: number): { reviews: DueReview[]; next?: Instant } {
    const reviews = this.#sql.due.all(now, limit).map(row => ({ ...refOf(row), review_id: String(row['review_id']) }))
    const next = this.#sql.nextDue.get(now)?.['due_at']
    return { reviews, ...(typeof next === 'string' ? { next } : {}) }
  }
}

function statements(db: DatabaseSync) {
  const free = `status = 'running' AND parked = 0 AND (until IS NULL OR until <= ?)`
  const taken = 'RETURNING tenant, conversation, turn, attempt'
  return {
    claimAny: db.prepare(
      `UPDATE turns SET runner = ?, until = ?, attempt = attempt + 1 WHERE (tenant, conversation, turn) =
         (SELECT tenant, conversation, turn FROM turns WHERE ${free} ORDER BY until LIMIT 1) ${taken}`,
    ),
    claimWanted: db.prepare(
      `UPDATE turns SET runner = ?, until = ?, attempt = attempt + 1
       WHERE tenant = ? AND conversation = ? AND turn = ? AND ${free} ${taken}`,
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
    nextDue: db.prepare('SELECT min(due_at) AS due_at FROM reviews WHERE due_at > ?'),
  }
}
