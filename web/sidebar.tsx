import { Plus, Search, X } from 'lucide-react'
import { type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type Client, RunsheetError, type Session, type Task } from 'runsheet/client'
import { errorText, isComposing } from 'runsheet/react'
import { newSession } from './new-sessions.ts'
import type { PageStrings } from './page-strings.ts'
import { chatRoute, historyRoute, type Route } from './route.ts'

interface SidebarProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly session: string
  /** Changes when the list of conversations may have changed. */
  readonly version: number
  readonly isOpen: boolean
  readonly onGo: (route: Route) => void
  readonly onClose: () => void
  readonly onSignedOut: () => void
  /** Below the list. */
  readonly children?: ReactNode
}

/** All conversations, with a mark where a review is pending, and a search over their titles and all tasks. */
export function Sidebar({
  client,
  strings,
  session,
  version,
  isOpen,
  onGo,
  onClose,
  onSignedOut,
  children,
}: SidebarProps): ReactElement {
  const { sessions, waiting, moreWait, more } = useSessions(client, version, session, onSignedOut)
  const [query, setQuery] = useState('')
  const { found, problem } = useSearch(client, query)
  const titles = new Map(sessions.map(({ session_id, title }) => [session_id, title ?? strings.untitled]))
  const close = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isOpen) close.current?.focus()
  }, [isOpen])
  return (
    <nav
      className={`app-side${isOpen ? ' app-side-open' : ''}`}
      aria-label={strings.menu}
      onKeyDown={event => {
        if (event.key !== 'Escape' || !isOpen || isComposing(event)) return
        event.preventDefault()
        onClose()
      }}
    >
      <div className="app-side-head">
        <span className="app-name">
          <span className="app-logo" /> Runsheet
        </span>
        <button
          ref={close}
          type="button"
          className="rs-icon app-side-close"
          aria-label={strings.close}
          onClick={onClose}
        >
          <X size={18} aria-hidden="true" />
        </button>
      </div>
      <button type="button" className="rs-button app-new" onClick={() => onGo(chatRoute(newSession()))}>
        <Plus size={16} aria-hidden="true" /> {strings.newChat}
      </button>
      <label className="app-search">
        <Search size={16} aria-hidden="true" />
        <input
          type="search"
          className="rs-input"
          aria-label={strings.search}
          placeholder={strings.search}
          value={query}
          onChange={event => setQuery(event.target.value)}
        />
      </label>
      {found ? (
        <section className="app-sessions" aria-label={strings.search}>
          {problem !== undefined && <p role="alert">{errorText(strings.panels, problem)}</p>}
          {problem === undefined && found.sessions.length + found.tasks.length === 0 && (
            <p className="app-quiet">{strings.noResults}</p>
          )}
          {found.sessions.length > 0 && (
            <Found heading={strings.conversationsFound}>
              {found.sessions.map(each => (
                <li key={each.session_id}>
                  <button type="button" onClick={() => onGo(chatRoute(each.session_id))}>
                    {each.title ?? strings.untitled}
                  </button>
                </li>
              ))}
            </Found>
          )}
          {found.tasks.length > 0 && (
            <Found heading={strings.tasksFound}>
              {found.tasks.map(task => (
                <li key={task.id}>
                  <button type="button" onClick={() => onGo(historyRoute(task.session_id, task.id))}>
                    <span>{task.title}</span>
                    <small>
                      {strings.panels.status[task.status]}
                      {titles.has(task.session_id) && ` · ${titles.get(task.session_id)}`}
                    </small>
                  </button>
                </li>
              ))}
            </Found>
          )}
        </section>
      ) : (
        <ul className="app-sessions" aria-label={strings.conversations}>
          {sessions.map(each => (
            <li key={each.session_id}>
              <button
                type="button"
                {...(each.session_id === session ? { 'aria-current': 'page' as const } : {})}
                onClick={() => onGo(chatRoute(each.session_id))}
              >
                {each.title ?? strings.untitled}{' '}
                {waiting.has(each.session_id) && (
                  <span
                    className="app-waiting"
                    role="img"
                    aria-label={strings.waitingForYou}
                    title={strings.waitingForYou}
                  />
                )}
              </button>
            </li>
          ))}
          {moreWait && <li className="app-quiet">{strings.moreWait}</li>}
          {more && (
            <li>
              <button type="button" className="app-more" onClick={more}>
                {strings.showMore}
              </button>
            </li>
          )}
        </ul>
      )}
      {children}
    </nav>
  )
}

/** One kind of search results. */
function Found({ heading, children }: { readonly heading: string; readonly children: ReactNode }): ReactElement {
  const id = useId()
  return (
    <>
      <h2 id={id} className="app-found">
        {heading}
      </h2>
      <ul aria-labelledby={id}>{children}</ul>
    </>
  )
}

const FIRST_PAGE = 50
/** The server's largest page. */
const MAX_PAGE = 200
/** How often the list is refreshed, besides when the window becomes visible. */
const REFRESH_MS = 15_000

function useSessions(client: Client, version: number, session: string, onSignedOut: () => void) {
  const [sessions, setSessions] = useState<readonly Session[]>([])
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set())
  const [moreWait, setMoreWait] = useState(false)
  const [limit, setLimit] = useState(FIRST_PAGE)
  const [hasMore, setHasMore] = useState(false)
  useEffect(() => {
    let isCurrent = true
    const refresh = (): void => {
      if (document.visibilityState === 'hidden') return
      Promise.all([
        newestSessions(client, limit),
        client.pendingReviews(undefined, { limit: MAX_PAGE }).catch(() => undefined),
      ]).then(
        ([answer, pending]) => {
          if (!isCurrent) return
          if (pending) {
            setWaiting(new Set(pending.reviews.map(({ session_id }) => session_id)))
            setMoreWait(pending.next_cursor !== undefined)
          }
          setSessions(answer.sessions)
          setHasMore(answer.hasMore)
        },
        (error: unknown) => {
          if (isCurrent && error instanceof RunsheetError && error.status === 401) onSignedOut()
        },
      )
    }
    refresh()
    const timer = setInterval(refresh, REFRESH_MS)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      isCurrent = false
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [client, version, session, limit, onSignedOut])
  return {
    sessions,
    waiting,
    moreWait,
    more: hasMore ? () => setLimit(limit < MAX_PAGE ? MAX_PAGE : limit + MAX_PAGE) : undefined,
  }
}

/** The newest conversations, at most `limit`, page by page. */
async function newestSessions(
  client: Client,
  limit: number,
): Promise<{ sessions: readonly Session[]; hasMore: boolean }> {
  const sessions: Session[] = []
  for (let cursor: string | undefined; ; ) {
    const page = { limit: Math.min(MAX_PAGE, limit - sessions.length), ...(cursor === undefined ? {} : { cursor }) }
    const answer = await client.sessions(page)
    sessions.push(...answer.sessions)
    cursor = answer.next_cursor ?? undefined
    if (cursor === undefined || sessions.length >= limit) return { sessions, hasMore: cursor !== undefined }
  }
}

interface Search {
  /** Absent while nothing is searched. */
  readonly found?: { readonly sessions: readonly Session[]; readonly tasks: readonly Task[] }
  readonly problem?: unknown
}

const DEBOUNCE_MS = 150

function useSearch(client: Client, query: string): Search {
  const [search, setSearch] = useState<Search>({})
  const text = query.trim()
  useEffect(() => {
    if (text === '') return setSearch({})
    let isCurrent = true
    const timer = setTimeout(() => {
      Promise.all([client.sessions({ q: text, limit: 20 }), client.search(text, { limit: 50 })]).then(
        ([{ sessions }, { tasks }]) => isCurrent && setSearch({ found: { sessions, tasks } }),
        (problem: unknown) => isCurrent && setSearch({ found: { sessions: [], tasks: [] }, problem }),
      )
    }, DEBOUNCE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [client, text])
  return search
}
