import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type PoolClient, type QueryResultRow } from 'pg'
import { OwnClient } from './client.ts'
import { type Limits, msUntil } from './limits.ts'
import { Reach } from './reach.ts'
import { Session, type Statement, type Value } from './session.ts'
import type { StoreError } from '../store-error.ts'
import { Slots } from './slots.ts'
import { connectionError, isAnswer, isTransient, toStoreError } from './to-store-error.ts'

export interface UseOptions {
  readonly ms?: number
  readonly retries?: boolean
}

export interface Database {
  /**
   * Runs one statement that waits for no row lock. It may run twice: after a lost connection its outcome is unknown.
   */
  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]>
  /** Like `query`, for a statement that may wait for a row lock. One round trip. */
  write<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]>
  /**
   * Runs `work` on one connection. Retries within the timeout if the connection is lost or the transaction conflicts.
   * Rolls back an open transaction.
   */
  use<T>(work: (session: Session) => Promise<T>, options?: UseOptions): Promise<T>
  /** The error of a call that timed out: the database was busy, or it is unreachable. */
  late(): StoreError
}

export function together(database: Pick<Database, 'use' | 'late'>, ms: number): Pick<Database, 'use'> {
  const until = performance.now() + ms
  return {
    use: async (work, options) => {
      const msLeft = msUntil(until)
      if (msLeft === 0) throw database.late()
      return database.use(work, { ...options, ms: msLeft })
    },
  }
}

export class Connections {
  readonly limits: Limits
  readonly #pool: Pool
  readonly #reach = new Reach()
  readonly #clients = new Set<OwnClient>()

  constructor(url: string, size: number, limits: Limits) {
    this.limits = limits
    this.#pool = new Pool({
      connectionString: url,
      Client: OwnClient,
      max: size,
      application_name: 'runsheet',
      connectionTimeoutMillis: limits.connectMs,
    })
    // A broken idle connection has already left the pool; the next call gets a new one.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', client => {
      this.#reach.heard()
      if (client instanceof OwnClient) this.#clients.add(client)
    })
    this.#pool.on('remove', client => void (client instanceof OwnClient && this.#clients.delete(client)))
  }

  async use<T>(work: (session: Session) => Promise<T>, { ms, retries }: Required<UseOptions>): Promise<T> {
    const until = performance.now() + ms
    let before: unknown
    for (let tries = 0; ; tries += 1) {
      const attempt = await this.#try(work, { until, tries, before })
      if (!('error' in attempt)) return attempt.value
      // Jitter, so that calls that lost a connection together do not retry together.
      const pauseMs = Math.min(20 * 2 ** tries, 500) * (0.5 + Math.random())
      if (!retries || !attempt.isRetryable || performance.now() + pauseMs >= until) throw attempt.error
      before = attempt.error
      await delay(pauseMs)
    }
  }

  late(): StoreError {
    return this.#reach.late()
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #try<T>(
    work: (session: Session) => Promise<T>,
    { until, tries, before }: { until: number; tries: number; before: unknown },
  ): Promise<{ value: T } | { error: unknown; isRetryable: boolean }> {
    // Once no time is left for another attempt, report the previous attempt's error.
    const late = (): Error => (before instanceof Error ? before : this.#reach.late())
    let session: Session | undefined
    try {
      session = new Session(await this.#connect(until, late), {
        limits: this.limits,
        until,
        silenceMs: this.limits.silenceMs * 2 ** tries,
        reach: this.#reach,
        late,
        onCut: since => this.#cutSilent(since),
      })
      return { value: await work(session) }
    } catch (error) {
      if (!session || session.lost) return { error: connectionError(error), isRetryable: true }
      return { error: toStoreError(error), isRetryable: isTransient(error) }
    } finally {
      await session?.release()
    }
  }

  async #connect(until: number, late: () => Error): Promise<PoolClient> {
    const askedAt = performance.now()
    const connecting = this.#pool.connect()
    const inTime = Promise.withResolvers<never>()
    const giveUp = (): void => {
      // In less time, even a reachable database need not have answered.
      if (performance.now() - askedAt >= this.limits.silenceMs) this.#reach.silent(askedAt)
      inTime.reject(late())
    }
    const timer = setTimeout(giveUp, msUntil(until))
    connecting.catch(error => (isAnswer(error) ? this.#reach.heard() : this.#reach.silent(askedAt)))
    try {
      return await Promise.race([connecting, inTime.promise])
    } catch (error) {
      connecting.then(
        client => client.release(),
        () => {},
      )
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Cuts idle connections without traffic since another one went silent: most likely they are dead too. */
  #cutSilent(since: number): void {
    for (const client of this.#clients) {
      if (client.isIdle && client.heardAt < since) client.cut(new Error('the connection may be mute'))
    }
  }
}

/** A share of the connections, so that one kind of work cannot starve another. */
export class Lane implements Database {
  readonly #next: Pick<Connections | Lane, 'late'> & {
    use<T>(work: (session: Session) => Promise<T>, options: Required<UseOptions>): Promise<T>
  }
  readonly #slots: Slots
  readonly #ms: number

  /** `next`: the connections, or the wider lane that this one is part of. `ms`: timeout of a call. */
  constructor(next: Connections | Lane, size: number, ms: number) {
    this.#next = next
    this.#slots = new Slots(size)
    this.#ms = ms
  }

  query<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]> {
    return this.use(session => session.query<R>(statement, values))
  }

  write<R extends QueryResultRow>(statement: Statement, values: readonly Value[]): Promise<R[]> {
    return this.use(async session => {
      const [, rows] = await Promise.all([
        session.begin(),
        session.query<R>(statement, values),
        session.query({ text: 'COMMIT' }),
      ])
      return rows
    })
  }

  async use<T>(work: (session: Session) => Promise<T>, { ms = this.#ms, retries = true }: UseOptions = {}): Promise<T> {
    const until = performance.now() + ms
    if (!(await this.#slots.take(msUntil(until)))) throw this.late()
    try {
      return await this.#next.use(work, { ms: msUntil(until), retries })
    } finally {
      this.#slots.give()
    }
  }

  late(): StoreError {
    return this.#next.late()
  }
}
