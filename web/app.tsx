import { type ReactElement, useEffect, useState } from 'react'
import type { Client } from '../src/client/index.ts'
import { WordsContext } from '../src/react/index.ts'
import { Chat } from './chat.tsx'
import { newSession } from './fresh.ts'
import { signedIn, signIn, streamSlot } from './session.ts'
import { Sidebar } from './sidebar.tsx'
import { type Language, LANGUAGES, preferred } from './words.ts'

/** Signs in, and shows one conversation with the others beside it. */
export function App(): ReactElement {
  const [client, setClient] = useState<Client>()
  const [problem, setProblem] = useState<string>()
  const [isReady, setReady] = useState(false)
  const [language, setLanguage] = useState<Language>(preferred)
  const words = LANGUAGES[language]
  useEffect(() => {
    void signIn().then(failed => {
      setProblem(failed)
      setClient(withSlots(signedIn()))
      setReady(true)
    })
  }, [])
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en'
    localStorage.setItem('runsheet.language', language)
  }, [language])
  if (!isReady) return <p className="app-wait" role="status" />
  return (
    <WordsContext value={words.panels}>
      {client ? (
        <Workplace
          client={client}
          language={language}
          onLanguage={setLanguage}
          onSignedOut={() => setClient(undefined)}
        />
      ) : (
        <main className="app-sign-in">
          <h1>{words.signInTitle}</h1>
          {problem !== undefined && <p role="alert">{problem}</p>}
          <p>{words.signInHow}</p>
          <pre>npm run -s runsheet -- url</pre>
        </main>
      )}
    </WordsContext>
  )
}

interface WorkplaceProps {
  readonly client: Client
  readonly language: Language
  readonly onLanguage: (language: Language) => void
  readonly onSignedOut: () => void
}

function Workplace({ client, language, onLanguage, onSignedOut }: WorkplaceProps): ReactElement {
  const words = LANGUAGES[language]
  const [session, setSession] = useState(sessionInAddress)
  const [isOpen, setOpen] = useState(false)
  const [version, setVersion] = useState(0)
  useEffect(() => {
    const follow = (): void => setSession(sessionInAddress())
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])
  const go = (id: string): void => {
    history.pushState(null, '', `?chat=${encodeURIComponent(id)}`)
    setSession(id)
    setOpen(false)
  }
  return (
    <div className="app">
      <Sidebar
        client={client}
        words={words}
        session={session}
        version={version}
        isOpen={isOpen}
        onGo={go}
        onClose={() => setOpen(false)}
        onSignedOut={onSignedOut}
      />
      <Chat
        key={session}
        client={client}
        words={words}
        session={session}
        onMenu={() => setOpen(true)}
        onTitle={() => setVersion(each => each + 1)}
        onLanguage={() => onLanguage(language === 'en' ? 'zh' : 'en')}
        onSignedOut={onSignedOut}
      />
    </div>
  )
}

function sessionInAddress(): string {
  const named = new URLSearchParams(location.search).get('chat')
  if (named !== null && /^[A-Za-z0-9_-]{1,128}$/.test(named)) return named
  const fresh = newSession()
  history.replaceState(null, '', `?chat=${fresh}`)
  return fresh
}

/** Every live conversation asks for room first: a browser has few connections for all its windows. */
function withSlots(client: Client | undefined): Client | undefined {
  return client && { ...client, live: (id, more) => client.live(id, { ...more, slot: streamSlot }) }
}
