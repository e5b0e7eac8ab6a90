import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Distance from the end that still counts as being there. */
const END_ZONE_PX = 40
/** Further away than this, the end is out of sight. */
const AWAY_PX = 200

interface End {
  /** The person has scrolled up. */
  readonly isAway: boolean
  /** Something came since. */
  readonly hasNew: boolean
  readonly go: () => void
}

interface Shown {
  /** Height in pixels of what covers the end. */
  readonly covered: number
  /** The message being sent. */
  readonly outgoing: string | undefined
  /** Differs whenever something was said. */
  readonly newest: string
  /** Else a message in it is looked for. */
  readonly beginsAtEnd: boolean
}

/** Keeps a scroller at the end of its content, unless the person has scrolled up; sending a message returns it there. */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  { covered, outgoing, newest, beginsAtEnd }: Shown,
): End {
  const isAtEnd = useRef(beginsAtEnd)
  const [isAway, setAway] = useState(false)
  const [hasNew, setNew] = useState(false)
  useLayoutEffect(() => {
    const element = scroller.current
    const inside = content.current
    if (!element || !inside) return
    const left = (): number => element.scrollHeight - element.scrollTop - element.clientHeight
    const sizeOf = (): string => `${element.clientWidth} ${element.clientHeight}`
    let size = sizeOf()
    const onScroll = (): void => {
      // A window that was resized has scrolled by itself.
      if (!isAtEnd.current || size === sizeOf()) isAtEnd.current = left() < END_ZONE_PX
      setAway(left() > AWAY_PX)
      if (isAtEnd.current) setNew(false)
    }
    const observer = new ResizeObserver(() => {
      size = sizeOf()
      if (isAtEnd.current) element.scrollTop = element.scrollHeight
      setAway(left() > AWAY_PX)
    })
    element.addEventListener('scroll', onScroll, { passive: true })
    // The scroller itself, too: what stands above the message box takes its height from it.
    observer.observe(inside)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [scroller, content])
  useLayoutEffect(() => {
    const element = scroller.current
    if (outgoing !== undefined) isAtEnd.current = true
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [scroller, covered, outgoing])
  const shown = useRef(newest)
  useEffect(() => {
    if (shown.current !== newest && !isAtEnd.current) setNew(true)
    shown.current = newest
  }, [newest])
  return {
    isAway,
    hasNew,
    go: () => {
      isAtEnd.current = true
      scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
      scroller.current?.focus({ preventScroll: true })
    },
  }
}
