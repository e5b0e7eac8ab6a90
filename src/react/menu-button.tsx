import { Ellipsis } from 'lucide-react'
import { type ReactElement, useRef, useState } from 'react'
import { Menu, type MenuItem } from './menu.tsx'

interface MenuButtonProps {
  readonly label: string
  /** Which row it belongs to, for screen readers; appended to the label. */
  readonly about?: string
  /** Asked for when it opens. */
  readonly items: () => readonly MenuItem[]
}

/** A button with what is done less often behind it. */
export function MenuButton({ label, about = '', items }: MenuButtonProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  // A click on the button closes an open menu before it arrives here.
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
