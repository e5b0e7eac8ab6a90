import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Instant } from '../../core/model/instant.ts'
import { isExclusive, type Need } from '../../core/model/needs.ts'
import type { StoreClock } from '../clock.ts'
import type { ClaimOptions, DueReview, Lease } from '../store.ts'
import { refOf } from './queries.ts'

export class SqliteLeases {
  readonly #sql
  readonly #clock: StoreClock

  constructor(db: DatabaseSync, clock: StoreClock) {
    this.#sql = statements(db)
    this.#clock = clock
  }

  claim(runner: string, ttlMs: number, { abilities, wanted }: ClaimOptions): Lease | undefined {
    const now = this.#clock.wall()
    const able = abilities.filter(need => !isExclusive(need) || !this.#sql.served.get(need, now))
    const free = wanted
      ? this.#sql.wanted.get(JSON.stringify(able), now, wanted.tenant, wanted.conversation, wanted.turn)
      : this.#sql.any.get(JSON.stringify(able), now)
    if (!free) return undefined
    const needs = free['needs'] as Need
    if (isExclusive(needs)) this.#sql.overtake.run(needs)
    const lease = { ...refOf(free), turn: String(free['turn']), attempt: Number(free['attempt']) + 1 }
    this.#sql.take.run(runner, now + ttlMs, needs, lease.attempt, lease.tenant, lease.conversation, lease.turn)
    return lease
  }

  served(need: Need): boolean {
    return this.#sql.served.get(need, this.#clock.wall()) !== undefined
  }

  renew({ tenant, conversation, turn, attempt }: Lease, ttlMs: number): boolean {
    return this.#sql.renew.run(this.#clock.wall() + ttlMs, tenant, conversation, turn, attempt).changes > 0
  }

  release({ tenant, conversation, turn, attempt }: Lease): void {
    this.#sql.release.run(tenant, conversation, turn, attempt)
  }

  due(limit: number): { reviews: DueReview[]; next?: Instant } {
    const now = this.#clock.now()
    const reviews = this.#sql.due.all(now, limit).map(reviewOf)
    const next = this.#sql.nextDue.get(now)?.['due_at']
    return { reviews, ...(typeof next === 'string' ? { next } : {}) }
  }

  isAwaited(): boolean {
    return this.#sql.anyDue.get() !== undefined
  }
}

const reviewOf = (row: Readonly<Record<string, SQLOutputValue>>): DueReview => ({
  ...refOf(row),
  review_id: String(row['review_id']),
})

function statements(db: DatabaseSync) {
  const free = `SELECT tenant, conversation, turn, attempt, needs FROM turns
    WHERE needs IN (SELECT value FROM json_each(?)) AND until <= ?`
  const end = 'UPDATE turns SET until = 0, serves = NULL, runner = NULL'
  return {
    // Unleased turns first.
    any: db.prepare(`${free} ORDER BY until LIMIT 1`),
    wanted: db.prepare(`${free} AND tenant = ? AND conversation = ? AND turn = ?`),
    served: db.prepare('SELECT 1 FROM turns WHERE serves = ? AND until > ?'),
    // Fences late holders.
    overtake: db.prepare(`${end}, attempt = attempt + 1 WHERE serves = ?`),
    take: db.prepare(
      `UPDATE turns SET runner = ?, until = ?, serves = ?, attempt = ?
       WHERE tenant = ? AND conversation = ? AND turn = ?`,
    ),
    renew: db.prepare(
      'UPDATE turns SET until = ? WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ? AND until > 0',
    ),
    release: db.prepare(`${end} WHERE tenant = ? AND conversation = ? AND turn = ? AND attempt = ?`),
    due: db.prepare(
      'SELECT tenant, conversation, id AS review_id FROM reviews WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?',
    ),
    nextDue: db.prepare('SELECT min(due_at) AS due_at FROM reviews WHERE due_at > ?'),
    anyDue: db.prepare('SELECT 1 FROM reviews WHERE due_at IS NOT NULL LIMIT 1'),
  }
}
