import { useEffect, useState } from 'react'

/** A function that focuses the nth match of a selector after the next render. */
export function useFocusOn(container: {
  readonly current: HTMLElement | null
}): (selector: string, index?: number) => void {
  const [target, setTarget] = useState<{ readonly selector: string; readonly index: number }>()
  useEffect(() => {
    if (target) container.current?.querySelectorAll<HTMLElement>(target.selector)[target.index]?.focus()
  }, [container, target])
  return (selector, index = 0) => setTarget({ selector, index })
}
