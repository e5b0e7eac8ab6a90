import { Archive, Plus, Search, X } from 'lucide-react'
import { lazy, type ReactElement, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import type { Client } from 'runsheet/client'
import { isComposing } from 'runsheet/react'
import { useCommands } from '../chat/commands.ts'
import { loadPart } from '../parts/load-part.ts'
import { newSession } from './new-sessions.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import { chatRoute, type Route } from '../parts/route.ts'
import { SessionList } from './session-list.tsx'
import { MOD } from '../parts/shortcuts.ts'
import { type FilingHandle, importSidebarParts } from './use-filing.ts'

const SearchResults = lazy(() => loadPart(importSidebarParts).then(parts => ({ default: parts.SearchResults })))
const ArchivedList = lazy(() => loadPart(importSidebarParts).then(parts => ({ default: parts.ArchivedList })))

interface SidebarProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly session: string
  /** A conversation in which nothing waits, even if the stale list says otherwise. */
  readonly quiet: string | undefined
  readonly filing: FilingHandle
  readonly isOpen: boolean
  readonly onGo: (route: Route) => void
  readonly onOpen: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

export function Sidebar(props: SidebarProps): ReactElement {
  const { client, strings, session, quiet, filing, isOpen, onGo, onOpen, onClose, children } = props
  const [query, setQuery] = useState('')
  const [isArchive, setArchive] = useState(false)
  const close = useRef<HTMLButtonElement>(null)
  const search = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isOpen) close.current?.focus()
  }, [isOpen])
  const newChat = (): void => onGo(chatRoute(newSession()))
  const showAll = useCallback(() => setArchive(false), [])
  useCommands({
    new_chat: newChat,
    search: () => {
      onOpen()
      requestAnimationFrame(() => search.current?.focus())
    },
    archived: () => {
      onOpen()
      setQuery('')
      setArchive(true)
    },
  })
  const asked = query.trim()
  return (
    <nav
      className={`app-side${isOpen ? ' app-side-open' : ''}`}
      aria-label={strings.menu}
      onKeyDown={event => {
        if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event)) return
        if (event.target === search.current && query !== '') return setQuery('')
        if (!isOpen) return
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
      <button type="button" className="rs-button app-new" onClick={newChat}>
        <Plus size={16} aria-hidden="true" /> {strings.newChat}
      </button>
      <label className="app-search">
        <Search size={16} aria-hidden="true" />
        <input
          ref={search}
          type="search"
          className="rs-input"
          aria-label={strings.search}
          placeholder={strings.search}
          value={query}
          onChange={event => setQuery(event.target.value)}
        />
        {query === '' && <kbd aria-hidden="true">{MOD} K</kbd>}
      </label>
      {/* Kept mounted to preserve the scroll position. */}
      <SessionList
        strings={strings}
        session={session}
        quiet={quiet}
        filing={filing}
        isHidden={asked !== '' || isArchive}
        onGo={onGo}
      />
      <Suspense fallback={<div className="app-sessions" />}>
        {asked !== '' && <SearchResults client={client} strings={strings} query={asked} onGo={onGo} />}
        {asked === '' && isArchive && (
          <ArchivedList
            client={client}
            strings={strings}
            session={session}
            actions={filing.actions}
            onGo={onGo}
            onBack={showAll}
          />
        )}
      </Suspense>
      <div className="app-side-foot">
        <button type="button" className="rs-button" aria-pressed={isArchive} onClick={() => setArchive(!isArchive)}>
          <Archive size={16} aria-hidden="true" /> {strings.archived}
        </button>
      </div>
      {children}
    </nav>
  )
}
