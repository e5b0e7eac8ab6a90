import { useEffect, useState } from 'react'

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
