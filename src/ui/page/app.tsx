import { lazy, type ReactElement, Suspense, useCallback, useEffect, useState } from 'react'
import type { Client } from 'runsheet/client'
import { RunsheetProvider } from 'runsheet/react'
import { onSignIn, signedInClient, signIn, signOut } from './parts/auth.ts'
import { Chat } from './chat/chat.tsx'
import { isNewSession } from './lists/new-sessions.ts'
import { englishPage } from './texts/english-page.ts'
import { Overlays } from './parts/overlays.tsx'
import { type Language, loadStrings, type PageStrings, preferredLanguage, saveLanguage } from './texts/page-strings.ts'
import { loadPart } from './parts/load-part.ts'
import { smallPart } from './parts/load-small-part.ts'
import { chatRoute, currentRoute, type Route, urlOf } from './parts/route.ts'
import { Sidebar } from './lists/sidebar.tsx'
import { importSidebarParts, useFiling } from './lists/use-filing.ts'

const Calls = smallPart('Calls')
const ReviewsPage = smallPart('ReviewsPage')
/** Lazy because most visits are already signed in. */
const SignIn = smallPart('SignIn')
const Settings = lazy(() => loadPart(() => import('./settings/settings.tsx')))
const FilingNotices = lazy(() => loadPart(importSidebarParts).then(parts => ({ default: parts.FilingNotices })))

export function App(): ReactElement {
  const [client, setClient] = useState<Client>()
  const [problem, setProblem] = useState<Error | 'signed_out'>()
  const [isReady, setReady] = useState(false)
  const [language, setLanguage] = useState<Language>(preferredLanguage)
  const strings = useLanguage(language)
  useEffect(() => {
    const update = (failed?: Error): void => {
      setProblem(failed)
      setClient(signedInClient())
      setReady(true)
    }
    const link = (): void => void signIn().then(update)
    link()
    return onSignIn({ link, elsewhere: update })
  }, [])
  const switchLanguage = useCallback((): void => {
    const other = language === 'en' ? 'zh' : 'en'
    saveLanguage(other)
    setLanguage(other)
  }, [language])
  const signedOut = useCallback((): void => {
    signOut()
    setProblem('signed_out')
    setClient(undefined)
  }, [])
  if (!isReady || !strings) return <p className="app-starting" role="status" />
  return client ? (
    <Workspace client={client} strings={strings} onLanguage={switchLanguage} onSignedOut={signedOut} />
  ) : (
    <Suspense fallback={<p className="app-starting" role="status" />}>
      <SignIn strings={strings} problem={problem} onLanguage={switchLanguage} />
    </Suspense>
  )
}

function useLanguage(language: Language): PageStrings | undefined {
  const [strings, setStrings] = useState<PageStrings>()
  useEffect(() => {
    let isCurrent = true
    loadStrings(language).then(
      loaded => isCurrent && setStrings(loaded),
      () => isCurrent && setStrings(before => before ?? englishPage),
    )
    return () => {
      isCurrent = false
    }
  }, [language])
  useEffect(() => {
    if (strings) document.documentElement.lang = strings.panels.locale === 'zh' ? 'zh-Hans' : strings.panels.locale
  }, [strings])
  return strings
}

interface WorkspaceProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly onLanguage: () => void
  readonly onSignedOut: () => void
}

/** Matches the style sheet's breakpoint; below it the list is an overlay. */
const NARROW = '(max-width: 760px), (max-width: 960px) and (max-height: 520px)'

function Workspace({ client, strings, onLanguage, onSignedOut }: WorkspaceProps): ReactElement {
  const [route, setRoute] = useState(currentRoute)
  const [isOpen, setOpen] = useState(false)
  const [version, setVersion] = useState(0)
  const [waiting, setWaiting] = useState('')
  const [quiet, setQuiet] = useState<string>()
  useEffect(() => {
    const follow = (): void => setRoute(currentRoute())
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])
  useEffect(() => {
    // Above the breakpoint the list is not an overlay and has nothing to close.
    const narrow = matchMedia(NARROW)
    const widened = (): void => setOpen(false)
    narrow.addEventListener('change', widened)
    return () => narrow.removeEventListener('change', widened)
  }, [])
  const go = useCallback((to: Route): void => {
    if (new URL(urlOf(to), location.href).href !== location.href) history.pushState(null, '', urlOf(to))
    setRoute(to)
    setOpen(false)
  }, [])
  const openMenu = useCallback((): void => setOpen(true), [])
  const openChat = useCallback((): void => go(chatRoute(route.session)), [go, route.session])
  const filing = useFiling(client, route.session, go, onSignedOut)
  const { reload } = filing.list
  const changed = useCallback((): void => {
    setVersion(each => each + 1)
    void reload()
  }, [reload])
  // Settings pages replace each other in the history, so that Back leaves the settings.
  const showSettings = useCallback((page?: string): void => {
    const { settings: _, ...rest } = currentRoute()
    const to = page === undefined ? rest : { ...rest, settings: page }
    history.replaceState(null, '', urlOf(to))
    setRoute(to)
  }, [])
  const isReviews = route.session === ''
  return (
    <div className="app">
      <a
        className="app-skip"
        href="#message"
        onClick={event => {
          event.preventDefault()
          document.querySelector<HTMLElement>('.app-input, .app-waiting-page')?.focus()
        }}
      >
        {strings.skip}
      </a>
      <Sidebar
        client={client}
        strings={strings}
        session={route.session}
        quiet={quiet}
        filing={filing}
        isOpen={isOpen}
        onGo={go}
        onOpen={() => setOpen(matchMedia(NARROW).matches)}
        onClose={() => {
          setOpen(false)
          // The button cannot take the focus until the overlay is gone.
          requestAnimationFrame(() => document.querySelector<HTMLElement>('.app-menu')?.focus())
        }}
      >
        <Suspense>
          <Calls client={client} strings={strings} route={route} version={version} onGo={go} onWaiting={setWaiting} />
        </Suspense>
      </Sidebar>
      {isReviews ? (
        <main className="app-main" inert={isOpen}>
          <Suspense>
            <ReviewsPage client={client} strings={strings} waiting={waiting} onGo={go} onMenu={openMenu} />
          </Suspense>
        </main>
      ) : (
        <RunsheetProvider
          key={route.session}
          client={client}
          session={route.session}
          isNew={isNewSession(route.session)}
          strings={strings.panels}
        >
          <Chat
            strings={strings}
            route={route}
            filing={filing.actions}
            isCovered={isOpen}
            waiting={waiting}
            onGo={go}
            onMenu={openMenu}
            onChanged={changed}
            onQuiet={setQuiet}
            onLanguage={onLanguage}
            onSignedOut={onSignedOut}
            onChat={openChat}
          />
        </RunsheetProvider>
      )}
      {route.settings !== undefined && (
        <Suspense>
          <Settings
            client={client}
            strings={strings}
            page={route.settings}
            onPage={showSettings}
            onLanguage={onLanguage}
            onClose={() => showSettings()}
          />
        </Suspense>
      )}
      <Suspense>
        {(filing.list.archived || filing.failure) && <FilingNotices strings={strings} filing={filing} />}
      </Suspense>
      <Overlays client={client} strings={strings} sessions={filing.list.sessions ?? []} onGo={go} />
    </div>
  )
}
