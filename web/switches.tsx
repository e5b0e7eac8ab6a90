import { Languages, SunMoon } from 'lucide-react'
import type { ReactElement } from 'react'
import { switchTheme } from './theme.ts'
import type { AppWords } from './words.ts'

/** Light or dark, and the other language. */
export function Switches({
  words,
  onLanguage,
}: {
  readonly words: AppWords
  readonly onLanguage: () => void
}): ReactElement {
  return (
    <>
      <button type="button" className="rs-icon" aria-label={words.theme} title={words.theme} onClick={switchTheme}>
        <SunMoon size={18} aria-hidden="true" />
      </button>
      <button type="button" className="rs-icon" aria-label={words.language} title={words.language} onClick={onLanguage}>
        <Languages size={18} aria-hidden="true" />
      </button>
    </>
  )
}
