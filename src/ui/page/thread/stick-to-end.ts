import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Within this distance the scroller counts as at the end. */
const END_ZONE_PX = 40
/** Beyond this distance the end is out of sight. */
const AWAY_PX = 200

interface End {
  readonly isAway: boolean
  readonly hasNew: boolean
  readonly go: () => void
}

interface Shown {
  /** Height in pixels of the panel that covers the end. */
  readonly covered: number
  readonly outgoing: string | undefined
  /** Changes with each new message. */
  readonly newest: string
  /** False if the route names a message to scroll to. */
  readonly beginsAtEnd: boolean
}

/** Keeps a scroller at the end of its content unless the person scrolls up; sending a message returns to the end. */
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
      // A resized window scrolls by itself.
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
    // Observe the scroller, too: panels above the message box change its height.
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
