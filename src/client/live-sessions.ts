import type { SessionList } from '../core/views/session-list.ts'
import type { Session } from '../core/views/wire.ts'
import type { Client, Filing } from './client.ts'

/** The loading state of a list of conversations. */
export interface SessionsState {
  /** Undefined until loaded. */
  readonly sessions: readonly Session[] | undefined
  readonly hasMore: boolean
  /** The conversation that this client archived last; `unarchive` restores it. */
  readonly archived: Session | undefined
  /** Why the last load or change failed. */
  readonly error: unknown
}

/** A live list of conversations, and the changes a person can make to it. */
export interface LiveSessions {
  readonly snapshot: () => SessionsState
  readonly subscribe: (listener: () => void) => () => void
  readonly reload: () => Promise<void>
  /** Loads another page. */
  readonly more: () => Promise<void>
  /** Files a conversation optimistically; resolves to false and rolls back if the server refuses. */
  readonly file: (id: string, change: Filing) => Promise<boolean>
  /** Restores the conversation that this client archived last. */
  readonly unarchive: () => Promise<boolean>
  /** Dismisses the offer to unarchive. */
  readonly forget: () => void
}

/** Which list to follow, and how often to poll it. */
export interface LiveSessionsOptions {
  readonly list?: Exclude<SessionList, 'all'>
  readonly everyMs?: number
}

const FIRST_PAGE = 50
/** The server's maximum page size. */
const MAX_PAGE = 200
const EVERY_MS = 15_000

interface Loaded {
  readonly sessions: readonly Session[]
  readonly hasMore: boolean
}

/** Follows a list of conversations while it has listeners. */
export function liveSessions(
  client: Pick<Client, 'sessions' | 'fileSession'>,
  { list = 'active', everyMs = EVERY_MS }: LiveSessionsOptions = {},
): LiveSessions {
  let shown = FIRST_PAGE
  const pages = polled(() => loaded(client, list, shown), { everyMs })
  const listeners = new Set<() => void>()
  let aside: Pick<SessionsState, 'archived' | 'error'> = { archived: undefined, error: null }
  let made: { from: readonly [unknown, unknown]; state: SessionsState } | undefined
  /** `useSyncExternalStore` needs the same object until something changes. */
  const snapshot = (): SessionsState => {
    const page = pages.snapshot()
    if (made?.from[0] === page && made.from[1] === aside) return made.state
    const { value, error } = page
    const { archived, error: refused } = aside
    const state = { sessions: value?.sessions, hasMore: value?.hasMore ?? false, archived, error: refused ?? error }
    made = { from: [page, aside], state }
    return state
  }
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  const note = (change: Partial<typeof aside>): void => {
    aside = { ...aside, ...change }
    tell()
  }
  const change = (update: (sessions: readonly Session[]) => readonly Session[]): void => {
    const { value } = pages.snapshot()
    if (value) pages.put({ ...value, sessions: update(value.sessions) })
  }
  const replace = (session: Session): void =>
    change(sessions => inOrder([...sessions.filter(each => each.session_id !== session.session_id), session], list))
  const file = async (id: string, asked: Filing): Promise<boolean> => {
    const before = pages.snapshot().value?.sessions.find(({ session_id }) => session_id === id)
    if (before) replace({ ...before, ...asked })
    try {
      const session = await client.fileSession(id, asked)
      replace(session)
      note({ error: null, ...(asked.archived === true && list === 'active' ? { archived: session } : {}) })
      return true
    } catch (error) {
      if (before) replace(before)
      note({ error })
      return false
    }
  }
  return {
    snapshot,
    subscribe: listener => {
      listeners.add(listener)
      const leave = pages.subscribe(tell)
      return () => {
        listeners.delete(listener)
        leave()
      }
    },
    reload: () => pages.reload(),
    more: () => {
      shown = shown < MAX_PAGE ? MAX_PAGE : shown + MAX_PAGE
      return pages.reload()
    },
    file,
    unarchive: async () => {
      const { archived } = aside
      if (!archived) return false
      note({ archived: undefined })
      return file(archived.session_id, { archived: false })
    },
    forget: () => note({ archived: undefined }),
  }
}

async function loaded(client: Pick<Client, 'sessions'>, list: SessionList, most: number): Promise<Loaded> {
  const sessions = new Map<string, Session>()
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(MAX_PAGE, most - sessions.size)
    const page = await client.sessions({ list, limit, ...(cursor === undefined ? {} : { cursor }) })
    // A conversation that becomes active between two page requests appears twice.
    for (const session of page.sessions) sessions.set(session.session_id, session)
    cursor = page.next_cursor ?? undefined
    if (cursor === undefined || sessions.size >= most) {
      return { sessions: [...sessions.values()], hasMore: cursor !== undefined }
    }
  }
}

const inOrder = (sessions: readonly Session[], list: SessionList): readonly Session[] =>
  sessions
    .filter(({ archived }) => archived === (list === 'archived'))
    .toSorted(
      (a, b) =>
        Number(b.pinned) - Number(a.pinned) || compare(b.active_at, a.active_at) || compare(b.session_id, a.session_id),
    )

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** A heading of the list. `week` and `month`: within the last 7 and 30 days; `older`: one group per month. */
export type SessionGroup = 'pinned' | 'today' | 'yesterday' | 'week' | 'month' | 'older'

const DAYS: readonly (readonly [SessionGroup, number])[] = [
  ['today', 0],
  ['yesterday', 1],
  ['week', 7],
  ['month', 30],
  ['older', Infinity],
]

/** Conversations under one heading. */
export interface GroupedSessions {
  readonly group: SessionGroup
  /** For `older`: the first day of the month. */
  readonly month?: Date
  readonly sessions: readonly Session[]
}

/** Groups conversations by the local day of their last activity, in list order. */
export function groupSessions(sessions: readonly Session[], now: number = Date.now()): readonly GroupedSessions[] {
  const groups = Map.groupBy(sessions, session => (session.pinned ? 'pinned' : groupOf(session, now)))
  const order: readonly SessionGroup[] = ['pinned', ...DAYS.map(([group]) => group)]
  return order.flatMap((group): readonly GroupedSessions[] => {
    const own = groups.get(group) ?? []
    if (group === 'older') return byMonth(own)
    return own.length > 0 ? [{ group, sessions: own }] : []
  })
}

function byMonth(sessions: readonly Session[]): readonly GroupedSessions[] {
  const months = Map.groupBy(sessions, ({ active_at }) => {
    const date = new Date(active_at)
    return new Date(date.getFullYear(), date.getMonth()).getTime()
  })
  return [...months].map(([month, own]) => ({ group: 'older', month: new Date(month), sessions: own }))
}

function groupOf({ active_at }: Session, now: number): SessionGroup {
  const days = dayOf(now) - dayOf(Date.parse(active_at))
  return DAYS.find(([, most]) => days <= most)?.[0] ?? 'older'
}

/** The day number in local time. Elapsed time would be wrong: some days have 23 or 25 hours. */
function dayOf(at: number): number {
  const date = new Date(at)
  return Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000)
}

/** The last answer of a server, and the error of the last poll if it failed. */
export interface PolledState<T> {
  /** Undefined until the first answer. */
  readonly value: T | undefined
  readonly error: unknown
}

export interface Polled<T> {
  readonly snapshot: () => PolledState<T>
  readonly subscribe: (listener: () => void) => () => void
  /** Reloads now, and once more if a request is in flight. Never rejects: errors are in the state. */
  readonly reload: () => Promise<void>
  /** Replaces the answer; a request in flight is repeated. */
  readonly put: (value: T) => void
}

export interface PollOptions {
  readonly everyMs: number
  /** Also polls while the page is hidden. */
  readonly whileHidden?: boolean
}

/** Polls `load` while there are listeners, and whenever the page becomes visible. */
export function polled<T>(load: () => Promise<T>, { everyMs, whileHidden = false }: PollOptions): Polled<T> {
  const listeners = new Set<() => void>()
  let state: PolledState<T> = { value: undefined, error: null }
  let version = 0
  let underWay: Promise<void> | undefined
  let timer: ReturnType<typeof setInterval> | undefined
  const set = (next: PolledState<T>): void => {
    state = next
    for (const listener of listeners) listener()
  }
  const ask = async (): Promise<void> => {
    for (;;) {
      const asked = version
      let next: PolledState<T>
      try {
        next = { value: await load(), error: null }
      } catch (error) {
        next = { ...state, error }
      }
      if (version !== asked) continue
      // Cleared before listeners run: one that reloads has to start a new request.
      underWay = undefined
      return set(next)
    }
  }
  const asking = (): Promise<void> => {
    underWay ??= ask()
    return underWay
  }
  const reload = (): Promise<void> => {
    version += 1
    return asking()
  }
  const look = (): void => {
    if (whileHidden || !isHidden()) void asking()
  }
  const start = (): void => {
    void asking()
    timer = setInterval(look, everyMs)
    pageOf()?.addEventListener('visibilitychange', look)
  }
  const stop = (): void => {
    clearInterval(timer)
    pageOf()?.removeEventListener('visibilitychange', look)
  }
  return {
    snapshot: () => state,
    subscribe: listener => {
      listeners.add(listener)
      if (listeners.size === 1) start()
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop()
      }
    },
    reload,
    put: value => {
      version += 1
      set({ value, error: null })
    },
  }
}

interface Page {
  readonly visibilityState: string
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

const pageOf = (): Page | undefined => (globalThis as { readonly document?: Page }).document

const isHidden = (): boolean => pageOf()?.visibilityState === 'hidden'
