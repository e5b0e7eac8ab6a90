import { type CSSProperties, type RefObject, useEffect, useState } from 'react'

export const PLAN_BESIDE = 'runsheet.plan-beside'

/** Wide enough for conversations, thread and plan. */
const WIDE = '(min-width: 1160px)'

interface PlanBeside {
  readonly isPossible: boolean
  readonly isOn: boolean
  readonly toggle: () => void
}

export function usePlanBeside(): PlanBeside {
  const [isPossible, setPossible] = useState(() => matchMedia(WIDE).matches)
  const [isChosen, setChosen] = useState(() => localStorage.getItem(PLAN_BESIDE) === 'on')
  useEffect(() => {
    const wide = matchMedia(WIDE)
    const update = (): void => {
      setPossible(wide.matches)
      setChosen(localStorage.getItem(PLAN_BESIDE) === 'on')
    }
    wide.addEventListener('change', update)
    // The settings dialog changes it, too.
    window.addEventListener('storage', update)
    return () => {
      wide.removeEventListener('change', update)
      window.removeEventListener('storage', update)
    }
  }, [])
  const toggle = (): void => {
    localStorage.setItem(PLAN_BESIDE, isChosen ? 'off' : 'on')
    setChosen(!isChosen)
  }
  return { isPossible, isOn: isPossible && isChosen, toggle }
}

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

export function bottomInset(coveredPx: number): CSSProperties {
  // Not padding: in a low window that would make the scroller higher than the window.
  return { '--app-covered': `${coveredPx}px`, scrollPaddingBottom: coveredPx + 20 } as CSSProperties
}
