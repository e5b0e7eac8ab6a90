import { randomUUID } from 'node:crypto'
import type { Conversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import type { Instant } from '../../core/model/instant.ts'
import type { Need } from '../../core/model/needs.ts'
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
import { closed } from '../store-error.ts'
import type { CatchUp } from '../search-catch-up.ts'
import type { Verifiable } from '../verify.ts'
import { postgresVerifiable } from './verifiable.ts'
import { Commits, type PostgresFaultPoint } from './commits.ts'
import { Connections, TIMEOUT_MS } from './connections.ts'
import { postgresLeases } from './leases.ts'
import { Listener, Notifier } from './listen.ts'
import { postgresLive } from './live.ts'
import { PostgresLog } from './log.ts'
import { postgresNotices } from './notices.ts'
import { probe } from './probe.ts'
import { postgresQueries, postgresTemplates } from './queries.ts'
import { createTables, requireTables } from './schema.ts'
import { postgresSearch } from './search-index.ts'

export interface PostgresStoreOptions {
  readonly url: string
  /** Added to the database's clock, so that tests can pass a deadline. */
  readonly skewMs?: () => number
  readonly onFaultPoint?: (point: PostgresFaultPoint) => void | Promise<void>
  /** Maximum connections for calls, half of them for commits. Default: 10. Claims, deadlines and hints use five more. */
  readonly poolSize?: number
  /** Timeout of a call in milliseconds. Default: 4,000. Other limits derive from it. */
  readonly timeoutMs?: number
  /** With false, a database without our tables is refused and left unchanged. */
  readonly creates?: boolean
}

/** Each statement still has its own timeout. Not retried, because the commits can be read only once. */
const IMPORT = { ms: 3_600_000, retries: false }

/** Background work repeats anyway, so it gives up earlier. */
const LOOK_MS = 2_000

/** A store for many nodes. Creates its tables in an empty database. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, poolSize = 10, timeoutMs = TIMEOUT_MS } = options
  const forCommits = Math.max(1, Math.ceil(poolSize / 2))
  const lookMs = Math.min(timeoutMs, LOOK_MS)
  const pools = {
    commits: new Connections(url, forCommits, timeoutMs),
    calls: new Connections(url, Math.max(1, poolSize - forCommits), timeoutMs),
    looks: new Connections(url, 2, lookMs),
    leases: new Connections(url, 2, lookMs),
  }
  try {
    await (options.creates === false ? requireTables(pools.calls) : createTables(pools.calls))
  } catch (error) {
    await closeAll(pools)
    throw error
  }
  return new PostgresStore(pools, options)
}

/** Pools, so that no kind of work can block all others. */
interface Pools {
  readonly commits: Connections
  readonly calls: Connections
  /** Background work that never waits for a row lock: polls, hints, deadlines, claims of any turn. */
  readonly looks: Connections
  /** Background work on one turn, whose row may be locked. */
  readonly leases: Connections
}

const closeAll = (pools: Pools): Promise<unknown> => Promise.all(Object.values(pools).map(each => each.close()))

export class PostgresStore implements FullStore {
  readonly queries: Queries
  readonly search: Search
  readonly templates: Templates
  readonly live: LiveText
  readonly notices: Notices
  readonly #pools: Pools
  readonly #log = new PostgresLog()
  readonly #commits: Commits
  readonly #leases
  readonly #notifier: Notifier
  readonly #listener: Listener
  readonly #indexing: CatchUp
  #isClosed = false
  #ended: Promise<void> | undefined

  constructor(pools: Pools, options: PostgresStoreOptions) {
    const { url, skewMs = () => 0, timeoutMs = TIMEOUT_MS, onFaultPoint = () => {} } = options
    const self = randomUUID()
    const onChange = (hint: Hint): void => this.#tell(hint)
    this.#pools = pools
    const { commits, calls, looks, leases } = pools
    this.#commits = new Commits(commits, this.#log, { callMs: timeoutMs, skewMs, onFaultPoint, onCommitted: onChange })
    this.#leases = postgresLeases(looks, leases, skewMs)
    this.#notifier = new Notifier(looks, self)
    this.#listener = new Listener(url, self)
    this.queries = postgresQueries(calls, skewMs)
    const { search, indexing } = postgresSearch(calls, timeoutMs)
    this.search = search
    this.#indexing = indexing
    this.templates = postgresTemplates(calls)
    this.live = postgresLive(calls, onChange)
    this.notices = postgresNotices(looks, skewMs)
  }

  async commit<T>(at: At, decide: Decide<T>): Promise<Committed<T>> {
    if (this.#isClosed) throw closed()
    return this.#commits.commit(at, decide)
  }

  now(): Promise<Instant> {
    return this.#leases.now()
  }

  load(ref: Ref): Promise<Conversation> {
    return this.#pools.calls.use(session => this.#log.load(session, ref))
  }

  eventsAfter(...args: Parameters<Store['eventsAfter']>): Promise<readonly StoredEvent[]> {
    return this.#pools.calls.use(session => this.#log.eventsAfter(session, ...args))
  }

  changes(signal: AbortSignal): AsyncIterable<Hint> {
    if (this.#isClosed) throw closed()
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
    return postgresVerifiable(this.#pools.calls)
  }

  async importLog(ref: Ref, commits: Iterable<Commit>): Promise<void> {
    const seq = await this.#pools.calls.use(session => this.#log.import(session, ref, commits), IMPORT)
    this.#tell({ tenant: ref.tenant, conversation: ref.conversation, kind: 'log', seq })
  }

  probe({ room }: { readonly room: boolean }): Promise<void> {
    return probe(this.#pools.leases, room)
  }

  close(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    this.#isClosed = true
    await this.#indexing.stop()
    await this.#commits.idle()
    await this.#notifier.idle()
    await this.#listener.close()
    await closeAll(this.#pools)
  }

  #tell(hint: Hint): void {
    if (hint.kind === 'log') this.#indexing.note()
    this.#listener.hints.publish(hint)
    this.#notifier.add(hint)
  }
}
