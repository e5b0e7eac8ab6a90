import type { SessionList } from '../core/views/session-list.ts'
import type { Session } from '../core/views/wire.ts'
import type { Client, Filing } from './client.ts'
import { polled } from './polled.ts'

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
