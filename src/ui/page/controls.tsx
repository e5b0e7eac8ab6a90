import { IconButton } from 'runsheet/react'
import { type MouseEvent, type ReactElement, type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { Languages, Menu, SunMoon } from 'lucide-react'
import { usePageStrings } from './texts/strings.ts'
import { switchTheme } from './storage.ts'
import { chatRoute, go, urlOf } from './route.ts'

export function DisplayToggles({ onLanguage }: { readonly onLanguage: () => void }): ReactElement {
  const strings = usePageStrings()
  return (
    <>
      <IconButton label={strings.theme} icon={SunMoon} size={18} onAct={switchTheme} />
      <IconButton label={strings.language} icon={Languages} size={18} onAct={onLanguage} />
    </>
  )
}

interface MenuButtonProps {
  readonly waiting: string
  readonly onMenu: () => void
}

export function MenuButton({ waiting, onMenu }: MenuButtonProps): ReactElement {
  const strings = usePageStrings()
  const label = waiting === '' ? strings.menu : `${strings.menu} · ${waiting}`
  return (
    <button type="button" className="rs-icon app-menu" aria-label={label} title={label} onClick={onMenu}>
      <Menu size={18} aria-hidden="true" />
      {waiting !== '' && <span className="app-menu-dot" />}
    </button>
  )
}

interface SessionLinkProps {
  readonly id: string
  readonly isCurrent: boolean
  readonly children: ReactNode
}

/** A real link, so that a conversation can open in its own window. */
export function SessionLink({ id, isCurrent, children }: SessionLinkProps): ReactElement {
  return (
    <a
      href={urlOf(chatRoute(id))}
      {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
      onClick={event => isPlain(event) && go(chatRoute(id))}
    >
      {children}
    </a>
  )
}

/** True if the page should follow the link; other clicks belong to the browser. */
export function isPlain(event: MouseEvent): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false
  event.preventDefault()
  return true
}

interface MoreProps {
  readonly onMore: () => Promise<void>
}

export function More({ onMore }: MoreProps): ReactElement {
  const strings = usePageStrings()
  const button = useRef<HTMLButtonElement>(null)
  const [isLoading, setLoading] = useState(false)
  const more = useCallback(async (): Promise<void> => {
    setLoading(true)
    await onMore()
    setLoading(false)
  }, [onMore])
  useEffect(() => {
    if (!button.current || isLoading) return
    const options = { root: button.current.closest('.app-sessions'), rootMargin: '0px 0px 600px' }
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void more(), options)
    observer.observe(button.current)
    return () => observer.disconnect()
  }, [more, isLoading])
  return (
    <button
      ref={button}
      type="button"
      className="app-more"
      aria-disabled={isLoading}
      onClick={() => isLoading || void more()}
    >
      {isLoading ? strings.loading : strings.showMore}
    </button>
  )
}
