import type { ReactElement } from 'react'
import { RunsheetError } from '../src/client/index.ts'
import { explained } from '../src/react/explained.ts'
import { CopyButton } from './copy.tsx'
import { Switches } from './switches.tsx'
import type { AppWords } from './words.ts'

interface SignInProps {
  readonly words: AppWords
  readonly problem: Error | 'signed_out' | undefined
  readonly onLanguage: () => void
}

/** For whoever comes without a link, or with one that is used up. It goes on by itself once a link was opened. */
export function SignIn({ words, problem, onLanguage }: SignInProps): ReactElement {
  const commands = [
    [words.fromSource, 'npm run -s runsheet -- url'],
    [words.installed, 'npx runsheet url'],
  ] as const
  return (
    <main className="app-sign-in">
      <div className="app-sign-in-head">
        <span className="app-name">Runsheet</span>
        <span>
          <Switches words={words} onLanguage={onLanguage} />
        </span>
      </div>
      <h1>{words.signInTitle}</h1>
      {problem !== undefined && (
        <p className="app-alert" role="alert">
          {said(words, problem)}
        </p>
      )}
      <p>{words.signInHow}</p>
      <dl>
        {commands.map(([where, command]) => (
          <div key={command}>
            <dt>{where}</dt>
            <dd>
              <code>{command}</code>
              <CopyButton text={command} words={words} />
            </dd>
          </div>
        ))}
      </dl>
    </main>
  )
}

function said(words: AppWords, problem: Error | 'signed_out'): string {
  if (problem === 'signed_out') return words.signedOut
  return problem instanceof RunsheetError && problem.code === 'invalid_code'
    ? words.badLink
    : explained(words.panels, problem)
}
