import { type ReactElement, useCallback, useEffect, useState } from 'react'
import type { Client } from '../src/client/index.ts'
import { WordsContext } from '../src/react/index.ts'
import { Chat } from './chat.tsx'
import { addressOf, chatOf, type Place, placeInAddress } from './place.ts'
import { onSignIn, signedIn, signIn, signOut } from './session.ts'
import { Sidebar } from './sidebar.tsx'
import { SignIn } from './sign-in.tsx'
import { type Language, LANGUAGES, preferred } from './words.ts'

/** Signs in, and shows one conversation with the others beside it. */
export function App(): ReactElement {
  const [client, setClient] = useState<Client>()
  const [problem, setProblem] = useState<Error | 'signed_out'>()
  const [isReady, setReady] = useState(false)
  const [language, setLanguage] = useState<Language>(preferred)
  const words = LANGUAGES[language]
  useEffect(() => {
    const look = (failed?: Error): void => {
      setProblem(failed)
      setClient(signedIn())
      setReady(true)
    }
    const link = (): void => void signIn().then(look)
    link()
    return onSignIn({ link, elsewhere: look })
  }, [])
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en'
  }, [language])
  const switchLanguage = (): void => {
    const other = language === 'en' ? 'zh' : 'en'
    localStorage.setItem('runsheet.language', other)
    setLanguage(other)
  }
  const signedOut = useCallback((): void => {
    signOut()
    setProblem('signed_out')
    setClient(undefined)
  }, [])
  if (!isReady) return <p className="app-wait" role="status" />
  return (
    <WordsContext value={words.panels}>
      {client ? (
        <Workplace client={client} language={language} onLanguage={switchLanguage} onSignedOut={signedOut} />
      ) : (
        <SignIn words={words} problem={problem} onLanguage={switchLanguage} />
      )}
    </WordsContext>
  )
}

interface WorkplaceProps {
  readonly client: Client
  readonly language: Language
  readonly onLanguage: () => void
  readonly onSignedOut: () => void
}

/** As in the style sheet: the conversations lie over the page, also where that is a phone on its side. */
const NARROW = '(max-width: 760px), (max-width: 960px) and (max-height: 520px)'

function Workplace({ client, language, onLanguage, onSignedOut }: WorkplaceProps): ReactElement {
  const words = LANGUAGES[language]
  const [place, setPlace] = useState(placeInAddress)
  const [isOpen, setOpen] = useState(false)
  const [version, setVersion] = useState(0)
  useEffect(() => {
    const follow = (): void => setPlace(placeInAddress())
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])
  useEffect(() => {
    // Beside the conversation it is no overlay, and keeps nobody from it.
    const narrow = matchMedia(NARROW)
    const widened = (): void => setOpen(false)
    narrow.addEventListener('change', widened)
    return () => narrow.removeEventListener('change', widened)
  }, [])
  const go = useCallback((to: Place): void => {
    if (addressOf(to) !== location.search) history.pushState(null, '', addressOf(to))
    setPlace(to)
    setOpen(false)
  }, [])
  const changed = useCallback((): void => setVersion(each => each + 1), [])
  return (
    <div className="app">
      <a
        className="app-skip"
        href="#message"
        onClick={event => {
          event.preventDefault()
          document.querySelector<HTMLElement>('.app-input')?.focus()
        }}
      >
        {words.skip}
      </a>
      <Sidebar
        client={client}
        words={words}
        session={place.session}
        version={version}
        isOpen={isOpen}
        onGo={go}
        onClose={() => {
          setOpen(false)
          // The button is out of reach until the overlay is gone.
          requestAnimationFrame(() => document.querySelector<HTMLElement>('.app-menu')?.focus())
        }}
        onSignedOut={onSignedOut}
      />
      <Chat
        key={place.session}
        client={client}
        words={words}
        place={place}
        isCovered={isOpen}
        onGo={go}
        onMenu={() => setOpen(true)}
        onChanged={changed}
        onLanguage={onLanguage}
        onSignedOut={onSignedOut}
        onChat={() => go(chatOf(place.session))}
      />
    </div>
  )
}
