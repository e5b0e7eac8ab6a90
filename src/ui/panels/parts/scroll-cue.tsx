import { ChevronDown, ChevronUp } from 'lucide-react'
import type { ReactElement, RefObject } from 'react'
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
