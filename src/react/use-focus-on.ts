import { useEffect, useState } from 'react'

/** Takes the focus to a part of an element, once that has been drawn anew. */
export function useFocusOn(within: {
  readonly current: HTMLElement | null
}): (selector: string, index?: number) => void {
  const [wanted, setWanted] = useState<{ readonly selector: string; readonly index: number }>()
  useEffect(() => {
    if (wanted) within.current?.querySelectorAll<HTMLElement>(wanted.selector)[wanted.index]?.focus()
  }, [within, wanted])
  return (selector, index = 0) => setWanted({ selector, index })
}
