import { useEffect, useState } from 'react'

const KEY = 'runsheet.plan-beside'

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
  const [isChosen, setChosen] = useState(() => localStorage.getItem(KEY) === 'on')
  useEffect(() => {
    const wide = matchMedia(WIDE)
    const update = (): void => setPossible(wide.matches)
    wide.addEventListener('change', update)
    return () => wide.removeEventListener('change', update)
  }, [])
  const toggle = (): void => {
    localStorage.setItem(KEY, isChosen ? 'off' : 'on')
    setChosen(!isChosen)
  }
  return { isPossible, isOn: isPossible && isChosen, toggle }
}
