import { type RefObject, useEffect, useState } from 'react'

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
