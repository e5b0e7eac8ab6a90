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

/** Keeps a scroller at the end of its content, unless the person has scrolled up; sending a message returns it there. */
export function useStickToEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  covered: number,
  outgoing: string | undefined,
): End {
  const isAtEnd = useRef(true)
  const [isAway, setAway] = useState(false)
  const [hasNew, setNew] = useState(false)
  useLayoutEffect(() => {
    const element = scroller.current
    const inside = content.current
    if (!element || !inside) return
    const onScroll = (): void => {
      const left = element.scrollHeight - element.scrollTop - element.clientHeight
      isAtEnd.current = left < END_ZONE_PX
      setAway(left > AWAY_PX)
      if (isAtEnd.current) setNew(false)
    }
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight
    })
    element.addEventListener('scroll', onScroll, { passive: true })
    observer.observe(inside)
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
  useEffect(() => {
    const inside = content.current
    if (!inside) return
    // Text that comes, not sizes: what is laid out late is not new.
    const observer = new MutationObserver(() => {
      if (!isAtEnd.current) setNew(true)
    })
    observer.observe(inside, { childList: true, characterData: true, subtree: true })
    return () => observer.disconnect()
  }, [content])
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
