import { type ReactElement, useState } from 'react'
import { formatDuration } from './format-duration.ts'
import { useStrings } from './strings.ts'

const ENDING_SOON_MS = 30_000

/** The time left, to the second, and what happens then; screen readers hear it once, near the end. */
export function Countdown({ remainingMs }: { readonly remainingMs: number | undefined }): ReactElement | null {
  const strings = useStrings()
  const text = remainingMs === undefined ? '' : strings.timeLeft(formatDuration(remainingMs))
  const isEndingSoon = remainingMs !== undefined && remainingMs <= ENDING_SOON_MS
  const [announcement, setAnnouncement] = useState('')
  if (isEndingSoon && announcement === '') setAnnouncement(text)
  return (
    <>
      <span className={`rs-countdown${isEndingSoon ? ' rs-ending-soon' : ''}`} role="timer">
        {text}
      </span>
      <span className="rs-sr" role="status">
        {announcement}
      </span>
    </>
  )
}
