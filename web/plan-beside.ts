import { useEffect, useState } from 'react'

export const PLAN_BESIDE = 'runsheet.plan-beside'

/** Wide enough for the conversations, the thread and the plan. */
const WIDE = '(min-width: 1160px)'

interface PlanBeside {
  readonly isPossible: boolean
  readonly isOn: boolean
  readonly toggle: () => void
}

/** Whether the plan is beside the thread: a setting of this browser, for wide screens. */
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
    // The settings change it, too.
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
