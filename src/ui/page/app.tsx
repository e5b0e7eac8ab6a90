import { lazy, type ReactElement, Suspense, useCallback, useEffect, useState } from 'react'
import type { Client, Session } from 'runsheet/client'
import { RunsheetProvider } from 'runsheet/react'
import { ClientContext, onSignIn, signedInClient, signIn, signOut, useClient } from './auth.ts'
import { Chat } from './chat/chat.tsx'
import { isNewSession, useRoute } from './route.ts'
import { part } from './part.ts'
import { loadPart } from './load-part.ts'
import { Sidebar } from './lists/sidebar.tsx'
import { useFiling } from './lists/filing.ts'
import { isHelpKey, isPaletteKey, useCommands } from './commands.ts'
import {
  type Language,
  loadStrings,
  type PageStrings,
  PageStringsContext,
  preferredLanguage,
  saveLanguage,
  usePageStrings,
} from './texts/strings.ts'
import { englishPage } from './texts/english.ts'

const Calls = part('Calls')
const ReviewsPage = part('ReviewsPage')
/** Lazy because most visits are already signed in. */
const SignIn = part('SignIn')
const Settings = lazy(() => loadPart(() => import('./settings/settings.tsx')))
const FilingNotices = part('FilingNotices')

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
  return (
    <PageStringsContext value={strings}>
      {client ? (
        <ClientContext value={client}>
          <Workspace onLanguage={switchLanguage} onSignedOut={signedOut} />
        </ClientContext>
      ) : (
        <Suspense fallback={<p className="app-starting" role="status" />}>
          <SignIn problem={problem} onLanguage={switchLanguage} />
        </Suspense>
      )}
    </PageStringsContext>
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
  readonly onLanguage: () => void
  readonly onSignedOut: () => void
}

/** Matches the style sheet's breakpoint; below it the list is an overlay. */
const NARROW = '(max-width: 760px), (max-width: 960px) and (max-height: 520px)'

function Workspace({ onLanguage, onSignedOut }: WorkspaceProps): ReactElement {
  const client = useClient()
  const strings = usePageStrings()
  const route = useRoute()
  const [isOpen, setOpen] = useState(false)
  const [version, setVersion] = useState(0)
  const [waiting, setWaiting] = useState('')
  const [quiet, setQuiet] = useState<string>()
  useEffect(() => setOpen(false), [route])
  useEffect(() => {
    // Above the breakpoint the list is not an overlay and has nothing to close.
    const narrow = matchMedia(NARROW)
    const widened = (): void => setOpen(false)
    narrow.addEventListener('change', widened)
    return () => narrow.removeEventListener('change', widened)
  }, [])
  const openMenu = useCallback((): void => setOpen(true), [])
  const filing = useFiling(client, route.session, onSignedOut)
  const { reload } = filing.list
  const changed = useCallback((): void => {
    setVersion(each => each + 1)
    void reload()
  }, [reload])
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
        session={route.session}
        quiet={quiet}
        filing={filing}
        isOpen={isOpen}
        onOpen={() => setOpen(matchMedia(NARROW).matches)}
        onClose={() => {
          setOpen(false)
          // The button cannot take the focus until the overlay is gone.
          requestAnimationFrame(() => document.querySelector<HTMLElement>('.app-menu')?.focus())
        }}
      >
        <Suspense>
          <Calls version={version} onWaiting={setWaiting} />
        </Suspense>
      </Sidebar>
      {isReviews ? (
        <main className="app-main" inert={isOpen}>
          <Suspense>
            <ReviewsPage waiting={waiting} onMenu={openMenu} />
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
            route={route}
            filing={filing.actions}
            isCovered={isOpen}
            waiting={waiting}
            onMenu={openMenu}
            onChanged={changed}
            onQuiet={setQuiet}
            onLanguage={onLanguage}
            onSignedOut={onSignedOut}
          />
        </RunsheetProvider>
      )}
      {route.settings !== undefined && (
        <Suspense>
          <Settings page={route.settings} onLanguage={onLanguage} />
        </Suspense>
      )}
      <Suspense>{(filing.list.archived || filing.failure) && <FilingNotices filing={filing} />}</Suspense>
      <Overlays sessions={filing.list.sessions ?? []} />
    </div>
  )
}

const Palette = part('Palette')
const KeyboardHelp = part('KeyboardHelp')

interface OverlaysProps {
  readonly sessions: readonly Session[]
}

function Overlays({ sessions }: OverlaysProps): ReactElement {
  const [shown, setShown] = useState<'palette' | 'help'>()
  useCommands({ keyboard_help: () => setShown('help') })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const asked = isPaletteKey(event) ? 'palette' : isHelpKey(event) ? 'help' : undefined
      if (!asked || event.isComposing || event.defaultPrevented) return
      event.preventDefault()
      // An open dialog keeps its own keys.
      if (!document.querySelector('dialog:modal')) setShown(asked)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  const close = (): void => setShown(undefined)
  return (
    <Suspense>
      {shown === 'palette' && <Palette sessions={sessions} onClose={close} />}
      {shown === 'help' && <KeyboardHelp onClose={close} />}
    </Suspense>
  )
}
