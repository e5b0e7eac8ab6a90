import { randomUUID } from 'node:crypto'
import type { FullStore, Hint } from '../store.ts'
import { closed } from '../store-error.ts'
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
export async function openPostgresStore(options: PostgresStoreOptions): Promise<FullStore> {
  const { url, poolSize = 10, timeoutMs = TIMEOUT_MS, skewMs = () => 0, onFaultPoint = () => {} } = options
  const forCommits = Math.max(1, Math.ceil(poolSize / 2))
  const lookMs = Math.min(timeoutMs, LOOK_MS)
  // So that no kind of work can block all others.
  const commitPool = new Connections(url, forCommits, timeoutMs)
  const calls = new Connections(url, Math.max(1, poolSize - forCommits), timeoutMs)
  // Background work that never waits for a row lock: hints, deadlines, claims of any turn.
  const looks = new Connections(url, 2, lookMs)
  // Background work on one turn, whose row may be locked.
  const leases = new Connections(url, 2, lookMs)
  const closeAll = (): Promise<unknown> => Promise.all([commitPool, calls, looks, leases].map(each => each.close()))
  try {
    await (options.creates === false ? requireTables(calls) : createTables(calls))
  } catch (error) {
    await closeAll()
    throw error
  }

  const self = randomUUID()
  const log = new PostgresLog()
  const notifier = new Notifier(looks, self)
  const listener = new Listener(url, self)
  const { search, indexing } = postgresSearch(calls, timeoutMs)
  const tell = (hint: Hint): void => {
    if (hint.kind === 'log') indexing.note()
    listener.hints.publish(hint)
    notifier.add(hint)
  }
  const commits = new Commits(commitPool, log, { callMs: timeoutMs, skewMs, onFaultPoint, onCommitted: tell })
  let ended: Promise<void> | undefined
  const check = (): void => {
    if (ended) throw closed()
  }
  return {
    commit: async (at, decide) => {
      check()
      return commits.commit(at, decide)
    },
    load: ref => calls.use(session => log.load(session, ref)),
    eventsAfter: (...args) => calls.use(session => log.eventsAfter(session, ...args)),
    changes: signal => {
      check()
      return listener.hints.subscribe(signal)
    },
    ...postgresLeases(looks, leases, skewMs),
    queries: postgresQueries(calls, skewMs),
    search,
    templates: postgresTemplates(calls),
    live: postgresLive(calls, tell),
    notices: postgresNotices(looks, skewMs),
    importLog: async (ref, source) => {
      const seq = await calls.use(session => log.import(session, ref, source), IMPORT)
      tell({ tenant: ref.tenant, conversation: ref.conversation, kind: 'log', seq })
    },
    verifiable: () => postgresVerifiable(calls),
    probe: ({ room }) => probe(leases, room),
    close: () => {
      ended ??= (async () => {
        await indexing.stop()
        await commits.idle()
        await notifier.idle()
        await listener.close()
        await closeAll()
      })()
      return ended
    },
  }
}
