import type { ReactElement } from 'react'
import { RunsheetError } from 'runsheet/client'
import { errorText } from 'runsheet/react'
import { CopyButton } from './thread/message.tsx'
import { DisplayToggles } from './controls.tsx'
import { type PageStrings, usePageStrings } from './texts/strings.ts'
import './lists/lists.css'

const COMMAND = 'npm run -s runsheet -- url'

interface SignInProps {
  readonly problem: Error | 'signed_out' | undefined
  readonly onLanguage: () => void
}

/** The page continues by itself once the link is opened in this browser. */
export function SignIn({ problem, onLanguage }: SignInProps): ReactElement {
  const strings = usePageStrings()
  return (
    <main className="app-sign-in">
      <div className="app-sign-in-head">
        <span className="app-name">Runsheet</span>
        <span>
          <DisplayToggles onLanguage={onLanguage} />
        </span>
      </div>
      <h1>{strings.signInTitle}</h1>
      {problem !== undefined && (
        <p className="app-alert" role="alert">
          {problemText(strings, problem)}
        </p>
      )}
      <p>{strings.signInHow}</p>
      <p className="app-command">
        <code>{COMMAND}</code>
        <CopyButton text={COMMAND} />
      </p>
    </main>
  )
}

function problemText(strings: PageStrings, problem: Error | 'signed_out'): string {
  if (problem === 'signed_out') return strings.signedOut
  return problem instanceof RunsheetError && problem.code === 'invalid_code'
    ? strings.badLink
    : errorText(strings.panels, problem)
}
