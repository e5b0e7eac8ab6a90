import { Ellipsis } from 'lucide-react'
import { type ReactElement, useRef, useState } from 'react'
import { Menu, type MenuItem } from './menu.tsx'

interface MenuButtonProps {
  readonly label: string
  /** Names the row for screen readers; appended to the label. */
  readonly about?: string
  readonly items: () => readonly MenuItem[]
}

export function MenuButton({ label, about = '', items }: MenuButtonProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  // A click on the button closes an open menu before the click handler runs.
  const wasOpen = useRef(false)
  return (
    <>
      <button
        ref={button}
        type="button"
        className="rs-icon rs-menu-button"
        aria-label={label + about}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPointerDown={() => {
          wasOpen.current = isOpen
        }}
        onClick={() => {
          setOpen(!wasOpen.current)
          wasOpen.current = false
        }}
      >
        <Ellipsis size={16} aria-hidden="true" />
      </button>
      {isOpen && <Menu label={label + about} items={items()} anchor={button} onClose={() => setOpen(false)} />}
    </>
  )
}
