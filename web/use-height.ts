import { type RefObject, useEffect, useState } from 'react'

/** The height of an element: the panels cover that much of the messages. */
export function useHeight(element: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0)
  useEffect(() => {
    const observed = element.current
    if (!observed) return
    const observer = new ResizeObserver(() => setHeight(observed.offsetHeight))
    observer.observe(observed)
    return () => observer.disconnect()
  }, [element])
  return height
}
