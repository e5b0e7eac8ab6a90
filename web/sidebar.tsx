import { Plus, Search, X } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import { type Client, RunsheetError, type Session, type Task } from '../src/client/index.ts'
import { newSession } from './fresh.ts'
import type { AppWords } from './words.ts'

interface SidebarProps {
  readonly client: Client
  readonly words: AppWords
  readonly session: string
  /** Raised when something about the conversations may have changed. */
  readonly version: number
  readonly isOpen: boolean
  readonly onGo: (session: string) => void
  readonly onClose: () => void
  readonly onSignedOut: () => void
}

/** The other conversations, and a search over all tasks. */
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
  const [sessions, setSessions] = useState<readonly Session[]>([])
  const [query, setQuery] = useState('')
  const found = useSearch(client, query)
  useEffect(() => {
    client.sessions({ limit: 100 }).then(
      answer => setSessions(answer.sessions),
      (error: unknown) => error instanceof RunsheetError && error.status === 401 && onSignedOut(),
    )
  }, [client, version, session, onSignedOut])
  return (
    <nav className={`app-side${isOpen ? ' app-side-open' : ''}`} aria-label={words.menu}>
      <div className="app-side-head">
        <span className="app-name">Runsheet</span>
        <button type="button" className="rs-icon app-side-close" aria-label={words.close} onClick={onClose}>
          <X size={18} aria-hidden="true" />
        </button>
      </div>
      <button type="button" className="rs-button app-new" onClick={() => onGo(newSession())}>
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
          {found.length === 0 && <li className="app-quiet">{words.noResults}</li>}
          {found.map(task => (
            <li key={task.id}>
              <button type="button" onClick={() => onGo(task.session_id)}>
                {task.title}
                <small>{words.panels.status[task.status]}</small>
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
                onClick={() => onGo(each.session_id)}
              >
                {each.title ?? words.untitled}
              </button>
            </li>
          ))}
        </ul>
      )}
    </nav>
  )
}

function useSearch(client: Client, query: string): readonly Task[] | undefined {
  const [found, setFound] = useState<readonly Task[]>()
  const text = query.trim()
  useEffect(() => {
    if (text === '') return setFound(undefined)
    let isCurrent = true
    const timer = setTimeout(() => {
      client.search(text, { limit: 50 }).then(
        ({ tasks }) => isCurrent && setFound(tasks),
        () => isCurrent && setFound([]),
      )
    }, 150)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [client, text])
  return found
}
