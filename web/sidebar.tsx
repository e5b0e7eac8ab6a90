import { Plus, Search, X } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { type Client, RunsheetError, type Session, type Task } from '../src/client/index.ts'
import { explained } from '../src/react/explained.ts'
import { isComposing } from '../src/react/is-composing.ts'
import { newSession } from './fresh.ts'
import { chatOf, historyOf, type Place } from './place.ts'
import type { AppWords } from './words.ts'

interface SidebarProps {
  readonly client: Client
  readonly words: AppWords
  readonly session: string
  /** Raised when something about the conversations may have changed. */
  readonly version: number
  readonly isOpen: boolean
  readonly onGo: (place: Place) => void
  readonly onClose: () => void
  readonly onSignedOut: () => void
}

/** The other conversations, marked where a review waits, and a search over all tasks. */
export function Sidebar({
  client,
  words,
  session,
  version,
  isOpen,
  onGo,
  onClose,
  onSignedOut,
}: SidebarProps): ReactElement {
  const { sessions, waiting, more } = useSessions(client, version, session, onSignedOut)
  const [query, setQuery] = useState('')
  const { found, problem } = useSearch(client, query)
  const titles = new Map(sessions.map(({ session_id, title }) => [session_id, title ?? words.untitled]))
  const close = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isOpen) close.current?.focus()
  }, [isOpen])
  return (
    <nav
      className={`app-side${isOpen ? ' app-side-open' : ''}`}
      aria-label={words.menu}
      onKeyDown={event => {
        if (event.key !== 'Escape' || !isOpen || isComposing(event)) return
        event.preventDefault()
        onClose()
      }}
    >
      <div className="app-side-head">
        <span className="app-name">Runsheet</span>
        <button ref={close} type="button" className="rs-icon app-side-close" aria-label={words.close} onClick={onClose}>
          <X size={18} aria-hidden="true" />
        </button>
      </div>
      <button type="button" className="rs-button app-new" onClick={() => onGo(chatOf(newSession()))}>
        <Plus size={16} aria-hidden="true" /> {words.newChat}
      </button>
      <label className="app-search">
        <Search size={16} aria-hidden="true" />
        <input
          type="search"
          className="rs-input"
          aria-label={words.search}
          placeholder={words.search}
          value={query}
          onChange={event => setQuery(event.target.value)}
        />
      </label>
      {found ? (
        <ul className="app-sessions" aria-label={words.search}>
          {problem !== undefined && <li role="alert">{explained(words.panels, problem)}</li>}
          {found.length === 0 && problem === undefined && <li className="app-quiet">{words.noResults}</li>}
          {found.map(task => (
            <li key={task.id}>
              <button type="button" onClick={() => onGo(historyOf(task.session_id, task.id))}>
                <span>{task.title}</span>
                <small>
                  {words.panels.status[task.status]}
                  {titles.has(task.session_id) && ` · ${titles.get(task.session_id)}`}
                </small>
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <ul className="app-sessions" aria-label={words.conversations}>
          {sessions.map(each => (
            <li key={each.session_id}>
              <button
                type="button"
                {...(each.session_id === session ? { 'aria-current': 'page' as const } : {})}
                onClick={() => onGo(chatOf(each.session_id))}
              >
                {each.title ?? words.untitled}{' '}
                {waiting.has(each.session_id) && (
                  <span
                    className="app-waiting"
                    role="img"
                    aria-label={words.waitingForYou}
                    title={words.waitingForYou}
                  />
                )}
              </button>
            </li>
          ))}
          {more && (
            <li>
              <button type="button" className="app-more" onClick={more}>
                {words.more}
              </button>
            </li>
          )}
        </ul>
      )}
    </nav>
  )
}

const PAGE = 50
const MOST = 200
/** What happens in the other conversations is seen after so long, or when the window is looked at again. */
const LOOK_EVERY_MS = 15_000

function useSessions(client: Client, version: number, session: string, onSignedOut: () => void) {
  const [sessions, setSessions] = useState<readonly Session[]>([])
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set())
  const [limit, setLimit] = useState(PAGE)
  const [hasMore, setHasMore] = useState(false)
  useEffect(() => {
    let isCurrent = true
    const look = (): void => {
      if (document.visibilityState === 'hidden') return
      Promise.all([sessionsUpTo(client, limit), client.pendingReviews().catch(() => undefined)]).then(
        ([answer, pending]) => {
          if (!isCurrent) return
          if (pending) setWaiting(new Set(pending.reviews.map(({ session_id }) => session_id)))
          setSessions(answer.sessions)
          setHasMore(answer.hasMore)
        },
        (error: unknown) => {
          if (isCurrent && error instanceof RunsheetError && error.status === 401) onSignedOut()
        },
      )
    }
    look()
    const timer = setInterval(look, LOOK_EVERY_MS)
    document.addEventListener('visibilitychange', look)
    return () => {
      isCurrent = false
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [client, version, session, limit, onSignedOut])
  return { sessions, waiting, more: hasMore ? () => setLimit(limit < MOST ? MOST : limit + MOST) : undefined }
}

/** So many at most, the newest first: the server gives 200 at a time. */
async function sessionsUpTo(
  client: Client,
  limit: number,
): Promise<{ sessions: readonly Session[]; hasMore: boolean }> {
  const sessions: Session[] = []
  for (let cursor: string | undefined; ; ) {
    const page = { limit: Math.min(MOST, limit - sessions.length), ...(cursor === undefined ? {} : { cursor }) }
    const answer = await client.sessions(page)
    sessions.push(...answer.sessions)
    cursor = answer.next_cursor ?? undefined
    if (cursor === undefined || sessions.length >= limit) return { sessions, hasMore: cursor !== undefined }
  }
}

interface Search {
  readonly found?: readonly Task[]
  readonly problem?: unknown
}

function useSearch(client: Client, query: string): Search {
  const [search, setSearch] = useState<Search>({})
  const text = query.trim()
  useEffect(() => {
    if (text === '') return setSearch({})
    let isCurrent = true
    const timer = setTimeout(() => {
      client.search(text, { limit: 50 }).then(
        ({ tasks }) => isCurrent && setSearch({ found: tasks }),
        (problem: unknown) => isCurrent && setSearch({ found: [], problem }),
      )
    }, 150)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [client, text])
  return search
}
