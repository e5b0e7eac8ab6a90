import { randomUUID } from 'node:crypto'
import type { Conversation } from '../../domain/conversation.ts'
import type { StoredEvent } from '../../domain/event.ts'
import type { Instant } from '../../domain/instant.ts'
import type { At, Committed, Decide, Hint, Lease, LiveText, Queries, Ref, Store, Templates } from '../store.ts'
import type { Audit } from '../verify.ts'
import { postgresAudit } from './audit.ts'
import { Commits, type PostgresFaultPoint } from './commits.ts'
import { Connections, type Database } from './connections.ts'
import { behind, Gate } from './gate.ts'
import { postgresLeases } from './leases.ts'
import { Listener } from './listen.ts'
import { postgresLive } from './live.ts'
import { PostgresLog } from './log.ts'
import { migrate } from './migrate.ts'
import { Notifier } from './notify.ts'
import { postgresQueries, postgresTemplates } from './queries.ts'

export interface PostgresStoreOptions {
  readonly url: string
  /** How far the store's clock is ahead of the database's: lets tests pass a deadline. */
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: PostgresFaultPoint) => void | Promise<void>
  /** Connections of this process at most; one more while there are listeners. */
  readonly poolSize?: number
}

/** A store for many nodes. Everything is in the schema `runsheet`, which is created if missing. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const connections = new Connections(options.url, options.poolSize ?? 10)
  try {
    await migrate(connections)
  } catch (error) {
    await connections.close()
    throw error
  }
  return new PostgresStore(connections, options)
}

export class PostgresStore implements Store {
  readonly queries: Queries
  readonly templates: Templates
  readonly live: LiveText
  readonly #connections: Connections
  readonly #database: Database
  readonly #gate = new Gate()
  readonly #log = new PostgresLog()
  readonly #commits: Commits
  readonly #leases
  readonly #notifier: Notifier
  readonly #listener: Listener
  #ended: Promise<void> | undefined

  constructor(connections: Connections, { url, skewMs = () => 0, onFaultPoint = () => {} }: PostgresStoreOptions) {
    const self = randomUUID()
    const onChange = (hint: Hint): void => this.#tell(hint)
    this.#connections = connections
    this.#database = behind(this.#gate, connections)
    this.#commits = new Commits(connections, this.#log, { skewMs, onFaultPoint, onCommitted: onChange })
    this.#leases = postgresLeases(this.#database, skewMs)
    this.#notifier = new Notifier(connections, self)
    this.#listener = new Listener(url, connections, self)
    this.queries = postgresQueries(this.#database, skewMs)
    this.templates = postgresTemplates(this.#database)
    this.live = postgresLive(this.#database, onChange)
  }

  commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    return this.#gate.run(() => this.#commits.commit(at, decide))
  }

  now(): Promise<Instant> {
    return this.#leases.now()
  }

  load(ref: Ref): Promise<Conversation> {
    return this.#database.use(session => this.#log.load(session, ref))
  }

  eventsAfter(ref: Ref, seq: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#database.use(session => this.#log.eventsAfter(session, ref, seq, limit))
  }

  changes(signal: AbortSignal): AsyncIterable<Hint> {
    this.#gate.check()
    return this.#listener.hints.subscribe(signal)
  }

  claim(runner: string, ttlMs: number, wanted?: Ref & { readonly turn: string }): Promise<Lease | undefined> {
    return this.#leases.claim(runner, ttlMs, wanted)
  }

  renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#leases.renew(lease, ttlMs)
  }

  release(lease: Lease): Promise<void> {
    return this.#leases.release(lease)
  }

  due(limit: number): ReturnType<Store['due']> {
    return this.#leases.due(limit)
  }

  audit(): Audit {
    return postgresAudit(this.#database)
  }

  close(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    await this.#gate.close()
    await this.#notifier.idle()
    await this.#listener.close()
    await this.#connections.close()
  }

  /** To listeners in this process at once, then to other processes. */
  #tell(hint: Hint): void {
    this.#listener.hints.publish(hint)
    this.#notifier.add(hint)
  }
}
