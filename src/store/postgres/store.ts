import { randomUUID } from 'node:crypto'
import type { Conversation } from '../../domain/conversation.ts'
import type { StoredEvent } from '../../domain/event.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Need } from '../../domain/needs.ts'
import type { Commit } from '../commit.ts'
import type {
  At,
  ClaimOptions,
  Committed,
  Decide,
  FullStore,
  Hint,
  Lease,
  LiveText,
  Notices,
  Queries,
  Ref,
  Search,
  Store,
  Templates,
} from '../store.ts'
import type { CatchUp } from '../search-catch-up.ts'
import type { Verifiable } from '../verify.ts'
import { postgresVerifiable } from './verifiable.ts'
import { Commits, type PostgresFaultPoint } from './commits.ts'
import { Connections, type Database, Lane } from './connections.ts'
import { behind, Gate } from './gate.ts'
import { importLog } from './import.ts'
import { postgresLeases } from './leases.ts'
import { limitsOf, TIMEOUT_MS } from './limits.ts'
import { Listener } from './listen.ts'
import { postgresLive } from './live.ts'
import { PostgresLog } from './log.ts'
import { postgresNotices } from './notices.ts'
import { Notifier } from './notify.ts'
import { probe } from './probe.ts'
import { postgresQueries, postgresTemplates } from './queries.ts'
import { createTables, requireTables } from './schema.ts'
import { postgresSearch } from './search-index.ts'

export interface PostgresStoreOptions {
  readonly url: string
  /** Added to the database's clock, so that tests can pass a deadline. */
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: PostgresFaultPoint) => void | Promise<void>
  /** Maximum connections for calls. Default: 10. Claims, deadlines and hints use four more. */
  readonly poolSize?: number
  /** Timeout of a call in milliseconds. Default: 4,000. Other limits derive from it. */
  readonly timeoutMs?: number
  /** With false, a database without our tables is refused and left unchanged. */
  readonly creates?: boolean
}

/** Connections reserved for reads while commits wait for locked conversations. */
const FOR_READS = 2
/** Connections for background work, and how many of them may wait for a lock. */
const LOOKS = 3
const LEASES = 2

/** A store for many nodes. Creates its tables in an empty database. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const limits = limitsOf(options.timeoutMs ?? TIMEOUT_MS)
  const size = options.poolSize ?? 10
  const connections = new Connections(options.url, size + LOOKS, limits)
  const calls = new Lane(connections, size, limits.callMs)
  const looks = new Lane(connections, LOOKS, limits.lookMs)
  try {
    await (options.creates === false ? requireTables(calls) : createTables(calls))
  } catch (error) {
    await connections.close()
    throw error
  }
  const lanes = {
    calls,
    commits: new Lane(calls, Math.max(1, size - FOR_READS), limits.callMs),
    looks,
    leases: new Lane(looks, LEASES, limits.lookMs),
  }
  return new PostgresStore(connections, lanes, options)
}

/** Connection shares, so that no kind of work can block all others. */
interface Lanes {
  readonly calls: Database
  readonly commits: Database
  /** Background work that never waits for a row lock: polls, hints, deadlines, claims of any turn. */
  readonly looks: Database
  /** Background work on one turn, whose row may be locked. */
  readonly leases: Database
}

export class PostgresStore implements FullStore {
  readonly queries: Queries
  readonly search: Search
  readonly templates: Templates
  readonly live: LiveText
  readonly notices: Notices
  readonly #connections: Connections
  readonly #calls: Database
  readonly #leaseCalls: Database
  readonly #gate = new Gate()
  readonly #log = new PostgresLog()
  readonly #commits: Commits
  readonly #leases
  readonly #notifier: Notifier
  readonly #listener: Listener
  readonly #indexing: CatchUp
  #ended: Promise<void> | undefined

  constructor(connections: Connections, lanes: Lanes, options: PostgresStoreOptions) {
    const { url, skewMs = () => 0, onFaultPoint = () => {} } = options
    const { limits } = connections
    const self = randomUUID()
    const onChange = (hint: Hint): void => this.#tell(hint)
    this.#connections = connections
    this.#calls = behind(this.#gate, lanes.calls)
    this.#commits = new Commits(lanes.commits, this.#log, {
      callMs: limits.callMs,
      skewMs,
      onFaultPoint,
      onCommitted: onChange,
    })
    this.#leaseCalls = behind(this.#gate, lanes.leases)
    this.#leases = postgresLeases(behind(this.#gate, lanes.looks), this.#leaseCalls, skewMs)
    this.#notifier = new Notifier(lanes.looks, self)
    this.#listener = new Listener(url, lanes.looks, limits, self)
    this.queries = postgresQueries(this.#calls, skewMs)
    const { search, indexing } = postgresSearch(this.#calls, limits.callMs)
    this.search = search
    this.#indexing = indexing
    this.templates = postgresTemplates(this.#calls)
    this.live = postgresLive(this.#calls, onChange)
    this.notices = postgresNotices(behind(this.#gate, lanes.looks), skewMs)
  }

  commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    return this.#gate.run(() => this.#commits.commit(at, decide))
  }

  now(): Promise<Instant> {
    return this.#leases.now()
  }

  load(ref: Ref): Promise<Conversation> {
    return this.#calls.use(session => this.#log.load(session, ref))
  }

  eventsAfter(...args: Parameters<Store['eventsAfter']>): Promise<readonly StoredEvent[]> {
    return this.#calls.use(session => this.#log.eventsAfter(session, ...args))
  }

  changes(signal: AbortSignal): AsyncIterable<Hint> {
    this.#gate.check()
    return this.#listener.hints.subscribe(signal)
  }

  claim(runner: string, ttlMs: number, options: ClaimOptions): Promise<Lease | undefined> {
    return this.#leases.claim(runner, ttlMs, options)
  }

  served(need: Need): Promise<boolean> {
    return this.#leases.served(need)
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

  verifiable(): Verifiable {
    return postgresVerifiable(this.#calls)
  }

  async importLog(ref: Ref, commits: Iterable<Commit>): Promise<void> {
    const seq = await importLog(this.#calls, this.#log, ref, commits)
    this.#tell({ tenant: ref.tenant, conversation: ref.conversation, kind: 'log', seq })
  }

  probe({ room }: { readonly room: boolean }): Promise<void> {
    return probe(this.#leaseCalls, room)
  }

  close(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    await this.#indexing.stop()
    await this.#gate.close()
    await this.#notifier.idle()
    await this.#listener.close()
    await this.#connections.close()
  }

  #tell(hint: Hint): void {
    if (hint.kind === 'log') this.#indexing.note()
    this.#listener.hints.publish(hint)
    this.#notifier.add(hint)
  }
}
