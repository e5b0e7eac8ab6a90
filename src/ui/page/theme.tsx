import { Languages, Menu, SunMoon } from 'lucide-react'
import type { ReactElement } from 'react'
import { usePageStrings } from './texts/strings.ts'

export const THEME = 'runsheet.theme'

export function applyTheme(): void {
  const theme = localStorage.getItem(THEME)
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
}

export function switchTheme(): void {
  const root = document.documentElement
  const isDark = root.dataset['theme']
    ? root.dataset['theme'] === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset['theme'] = isDark ? 'light' : 'dark'
  localStorage.setItem(THEME, root.dataset['theme'])
}

export function DisplayToggles({ onLanguage }: { readonly onLanguage: () => void }): ReactElement {
  const strings = usePageStrings()
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
