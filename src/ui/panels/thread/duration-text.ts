import { formatDuration } from '../parts/format-duration.ts'
import type { Strings } from '../texts/strings.ts'

/** Formats a duration: `<0.1 s`, `0.7 s`, `12 s`, and `2:05` from one minute on. */
export function durationText(ms: number, { seconds }: Strings): string {
  if (ms >= 59_500) return formatDuration(ms)
  if (ms < 50) return seconds('<0.1')
  return seconds((ms / 1_000).toFixed(ms < 9_950 ? 1 : 0))
}
