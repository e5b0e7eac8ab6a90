import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ReactElement, type RefObject, useEffect, useState } from 'react'
import { useStrings } from '../texts/strings.ts'

interface ScrollCueProps {
  readonly count: number
  readonly where: 'above' | 'below'
  readonly of: RefObject<HTMLElement | null>
}

export function ScrollCue({ count, where, of }: ScrollCueProps): ReactElement | null {
  const { reviewing } = useStrings()
  const [Icon, text] =
    where === 'above' ? [ChevronUp, reviewing.stepsAbove(count)] : [ChevronDown, reviewing.stepsBelow(count)]
  if (count === 0) return null
  return (
    <button
      type="button"
      className={`rs-cue rs-cue-${where}`}
      onClick={() => showMore(of.current, where === 'above' ? -1 : 1)}
    >
      <Icon size={14} aria-hidden="true" /> {text}
    </button>
  )
}

/** Scrolls by one page less one row, which stays visible for orientation. */
function showMore(body: HTMLElement | null, direction: 1 | -1): void {
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  body?.scrollBy({ top: direction * (body.clientHeight - 48), behavior: isCalm ? 'instant' : 'smooth' })
}

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
