import { useEffect, useState } from 'react'

/** Returns a function that focuses the nth match of a selector after the next render, with the caret at the end. */
export function useFocusOn(container: {
  readonly current: HTMLElement | null
}): (selector: string, index?: number) => void {
  const [target, setTarget] = useState<{ readonly selector: string; readonly index: number }>()
  useEffect(() => {
    if (!target) return
    const element = container.current?.querySelectorAll<HTMLElement>(target.selector)[target.index]
    element?.focus()
    if (element instanceof HTMLTextAreaElement) element.setSelectionRange(element.value.length, element.value.length)
  }, [container, target])
  return (selector, index = 0) => setTarget({ selector, index })
}
