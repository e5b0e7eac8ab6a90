import { Languages, SunMoon } from 'lucide-react'
import type { ReactElement } from 'react'
import { switchTheme } from './theme.ts'
import type { PageStrings } from '../texts/page-strings.ts'

export function DisplayToggles({
  strings,
  onLanguage,
}: {
  readonly strings: PageStrings
  readonly onLanguage: () => void
}): ReactElement {
  return (
    <>
      <button type="button" className="rs-icon" aria-label={strings.theme} title={strings.theme} onClick={switchTheme}>
        <SunMoon size={18} aria-hidden="true" />
      </button>
      <button
        type="button"
        className="rs-icon"
        aria-label={strings.language}
        title={strings.language}
        onClick={onLanguage}
      >
        <Languages size={18} aria-hidden="true" />
      </button>
    </>
  )
}
