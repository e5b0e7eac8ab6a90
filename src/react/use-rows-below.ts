import { type RefObject, useEffect, useState } from 'react'

/** So much of a row in sight is enough to know that it is there. */
const SEEN_PX = 20

/** How many rows of a list are below what is in sight. */
export function useRowsBelow(scroller: RefObject<HTMLElement | null>, rows: string): number {
  const [below, setBelow] = useState(0)
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const count = (): void => {
      const { bottom } = element.getBoundingClientRect()
      const all = [...element.querySelectorAll(rows)]
      setBelow(all.filter(row => row.getBoundingClientRect().top + SEEN_PX > bottom).length)
    }
    const observer = new ResizeObserver(count)
    observer.observe(element)
    // Rows get higher and lower, come and go.
    for (const child of element.children) observer.observe(child)
    element.addEventListener('scroll', count, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', count)
    }
  }, [scroller, rows])
  return below
}
