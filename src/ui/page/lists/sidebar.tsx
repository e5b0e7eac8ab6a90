import { Button, IconButton, isComposing } from 'runsheet/react'
import { Archive, Plus, Search, X } from 'lucide-react'
import { type ReactElement, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { MOD, useCommands } from '../commands.ts'
import { chatRoute, go, newSession } from '../route.ts'
import { SessionList } from './session-list.tsx'
import type { FilingHandle } from './filing.ts'
import { part } from '../part.ts'
import { usePageStrings } from '../texts/strings.ts'

const SearchResults = part('SearchResults')
const ArchivedList = part('ArchivedList')

interface SidebarProps {
  readonly session: string
  /** A conversation in which nothing waits, even if the stale list says otherwise. */
  readonly quiet: string | undefined
  readonly filing: FilingHandle
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

export function Sidebar(props: SidebarProps): ReactElement {
  const strings = usePageStrings()

  const { session, quiet, filing, isOpen, onOpen, onClose, children } = props
  const [query, setQuery] = useState('')
  const [isArchive, setArchive] = useState(false)
  const close = useRef<HTMLButtonElement>(null)
  const search = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isOpen) close.current?.focus()
  }, [isOpen])
  const newChat = (): void => go(chatRoute(newSession()))
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
        <IconButton ref={close} className="app-side-close" label={strings.close} icon={X} size={18} onAct={onClose} />
      </div>
      <Button className="app-new" onClick={newChat}>
        <Plus size={16} aria-hidden="true" /> {strings.newChat}
      </Button>
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
      <SessionList session={session} quiet={quiet} filing={filing} isHidden={asked !== '' || isArchive} />
      <Suspense fallback={<div className="app-sessions" />}>
        {asked !== '' && <SearchResults query={asked} />}
        {asked === '' && isArchive && <ArchivedList session={session} actions={filing.actions} onBack={showAll} />}
      </Suspense>
      <div className="app-side-foot">
        <Button aria-pressed={isArchive} onClick={() => setArchive(!isArchive)}>
          <Archive size={16} aria-hidden="true" /> {strings.archived}
        </Button>
      </div>
      {children}
    </nav>
  )
}
