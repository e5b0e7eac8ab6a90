import { Menu } from 'lucide-react'
import type { ReactElement } from 'react'
import type { PageStrings } from '../texts/page-strings.ts'

interface MenuButtonProps {
  readonly strings: PageStrings
  readonly waiting: string
  readonly onMenu: () => void
}

export function MenuButton({ strings, waiting, onMenu }: MenuButtonProps): ReactElement {
  const label = waiting === '' ? strings.menu : `${strings.menu} · ${waiting}`
  return (
    <button type="button" className="rs-icon app-menu" aria-label={label} title={label} onClick={onMenu}>
      <Menu size={18} aria-hidden="true" />
      {waiting !== '' && <span className="app-menu-dot" />}
    </button>
  )
}
