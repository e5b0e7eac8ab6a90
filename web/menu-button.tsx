import { Menu } from 'lucide-react'
import type { ReactElement } from 'react'
import type { PageStrings } from './page-strings.ts'

interface MenuButtonProps {
  readonly strings: PageStrings
  /** What waits anywhere, in words; empty if nothing does. */
  readonly waiting: string
  readonly onMenu: () => void
}

/** Opens the list where it is an overlay. Its dot says that something waits. */
export function MenuButton({ strings, waiting, onMenu }: MenuButtonProps): ReactElement {
  const label = waiting === '' ? strings.menu : `${strings.menu} · ${waiting}`
  return (
    <button type="button" className="rs-icon app-menu" aria-label={label} title={label} onClick={onMenu}>
      <Menu size={18} aria-hidden="true" />
      {waiting !== '' && <span className="app-menu-dot" />}
    </button>
  )
}
