import { ChevronDown, ChevronUp, Ellipsis, Redo2, Undo2 } from 'lucide-react'
import {
  type ComponentType,
  type KeyboardEvent,
  type ReactElement,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { IconButton } from './controls.tsx'
import { useStrings } from '../texts/strings.ts'

interface UndoButtonsProps {
  readonly canUndo: boolean
  readonly canRedo: boolean
  readonly onUndo: () => void
  readonly onRedo: () => void
}

/** For touch screens, where there is no Ctrl+Z. */
export function UndoButtons({ canUndo, canRedo, onUndo, onRedo }: UndoButtonsProps): ReactElement {
  const { reviewing } = useStrings()
  return (
    <>
      <IconButton label={reviewing.undo} icon={Undo2} isDisabled={!canUndo} onAct={onUndo} />
      <IconButton label={reviewing.redo} icon={Redo2} isDisabled={!canRedo} onAct={onRedo} />
    </>
  )
}

/** An item of a menu. */
export interface MenuItem {
  readonly label: string
  readonly icon: ComponentType<{ readonly size?: number | string; readonly 'aria-hidden'?: 'true' }>
  readonly isDisabled?: boolean
  readonly onChoose: () => void
}

/** The props of `Menu`. */
export interface MenuProps {
  readonly label: string
  readonly items: readonly MenuItem[]
  /** The button that opened the menu. */
  readonly anchor: RefObject<HTMLElement | null>
  readonly onClose: () => void
}

const GAP_PX = 4

/** A menu in the top layer. The browser closes it on Escape or an outside click and returns the focus. */
export function Menu({ label, items, anchor, onClose }: MenuProps): ReactElement {
  const menu = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = menu.current
    if (!element || !anchor.current) return
    const button = anchor.current
    element.showPopover()
    place(element, button)
    itemsIn(element)[0]?.focus({ preventScroll: true })
    const follow = (): void => place(element, button)
    document.addEventListener('scroll', follow, { capture: true, passive: true })
    return () => document.removeEventListener('scroll', follow, { capture: true })
  }, [anchor])
  const choose = ({ isDisabled = false, onChoose }: MenuItem): void => {
    if (isDisabled) return
    menu.current?.hidePopover()
    onChoose()
  }
  return (
    <div
      ref={menu}
      popover="auto"
      className="rs-menu"
      role="menu"
      aria-label={label}
      onKeyDown={event => onMenuKey(event, menu.current)}
      onToggle={({ newState }) => newState === 'closed' && onClose()}
    >
      {items.map(item => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          {...(item.isDisabled ? { 'aria-disabled': true } : {})}
          onClick={() => choose(item)}
        >
          <item.icon size={16} aria-hidden="true" /> {item.label}
        </button>
      ))}
    </div>
  )
}

const itemsIn = (menu: HTMLElement): HTMLElement[] => [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')]

function onMenuKey(event: KeyboardEvent, menu: HTMLElement | null): void {
  // Surrounding panels have key handlers of their own.
  event.stopPropagation()
  if (!menu) return
  if (event.key === 'Tab') return menu.hidePopover()
  const items = itemsIn(menu)
  const at = items.findIndex(item => item === document.activeElement)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
  if (to === undefined) return
  event.preventDefault()
  items.at(to % items.length)?.focus()
}

/** Below the button and aligned to its right edge; above it where there is more room. */
function place(menu: HTMLElement, anchor: HTMLElement): void {
  const { top, bottom, right } = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const isAbove = bottom + GAP_PX + height > innerHeight && top > innerHeight - bottom
  menu.style.top = `${Math.max(GAP_PX, isAbove ? top - GAP_PX - height : bottom + GAP_PX)}px`
  menu.style.left = `${Math.max(GAP_PX, Math.min(right, innerWidth - GAP_PX) - width)}px`
}

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

interface ScrollCueProps {
  readonly count: number
  readonly where: 'above' | 'below'
  readonly of: RefObject<HTMLElement | null>
}

export function ScrollCue({ count, where, of }: ScrollCueProps): ReactElement | null {
  const { reviewing } = useStrings()
  const [Icon, text] =
    where === 'above' ? [ChevronUp, reviewing.stepsAbove(count)] : [ChevronDown, reviewing.stepsBelow(count)]
  if (count === 0) return null
  return (
    <button
      type="button"
      className={`rs-cue rs-cue-${where}`}
      onClick={() => showMore(of.current, where === 'above' ? -1 : 1)}
    >
      <Icon size={14} aria-hidden="true" /> {text}
    </button>
  )
}

/** Scrolls by one page less one row, which stays visible for orientation. */
function showMore(body: HTMLElement | null, direction: 1 | -1): void {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  body?.scrollBy({ top: direction * (body.clientHeight - 48), behavior: isCalm ? 'instant' : 'smooth' })
}

/** A row counts as visible from this many pixels on. */
const SEEN_PX = 20

interface OutOfSight {
  readonly above: number
  readonly below: number
}

export function useRowsOutOfSight(scroller: RefObject<HTMLElement | null>, rows: string): OutOfSight {
  const [hidden, setHidden] = useState<OutOfSight>({ above: 0, below: 0 })
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const count = (): void => {
      const { top, bottom } = element.getBoundingClientRect()
      const all = [...element.querySelectorAll(rows)].map(row => row.getBoundingClientRect())
      const above = all.filter(row => row.bottom - SEEN_PX < top).length
      const below = all.filter(row => row.top + SEEN_PX > bottom).length
      setHidden(before => (before.above === above && before.below === below ? before : { above, below }))
    }
    const observer = new ResizeObserver(count)
    observer.observe(element)
    // Rows change their height, appear and disappear.
    for (const child of element.children) observer.observe(child)
    element.addEventListener('scroll', count, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', count)
    }
  }, [scroller, rows])
  return hidden
}
