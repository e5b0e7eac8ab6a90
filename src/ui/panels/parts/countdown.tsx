import { type ReactElement, useState } from 'react'
import { formatDuration } from './format-duration.ts'
import { useStrings } from '../texts/strings.ts'
import type { MoreTime } from '../review/use-more-time.ts'

const ENDING_SOON_MS = 30_000

interface CountdownProps {
  readonly remainingMs: number | undefined
  readonly moreTime: MoreTime | undefined
}

/** Screen readers get one announcement near the deadline, not one per second. */
export function Countdown({ remainingMs, moreTime }: CountdownProps): ReactElement {
  const strings = useStrings()
  const text = remainingMs === undefined ? '' : strings.timeLeft(formatDuration(remainingMs))
  const isEndingSoon = remainingMs !== undefined && remainingMs <= ENDING_SOON_MS
  const [announcement, setAnnouncement] = useState('')
  if (isEndingSoon && announcement === '') setAnnouncement(text)
  // Cleared, so that an extended deadline is announced again.
  if (remainingMs !== undefined && !isEndingSoon && announcement !== '') setAnnouncement('')
  return (
    <div className="rs-deadline">
      <span className={`rs-countdown${isEndingSoon ? ' rs-ending-soon' : ''}`} role="timer">
        {text}
      </span>
      <span className="rs-sr" role="status">
        {announcement}
      </span>
      {moreTime && (
        <button
          type="button"
          className="rs-button rs-small"
          aria-disabled={moreTime.isBusy}
          onClick={() => void moreTime.extend()}
        >
          {strings.moreTime}
        </button>
      )}
      {moreTime?.error !== undefined && (
        <span className="rs-deadline-problem" role="alert">
          {moreTime.error}
        </span>
      )}
    </div>
  )
}
