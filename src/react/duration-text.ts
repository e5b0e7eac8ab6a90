import { formatDuration } from './format-duration.ts'
import type { Strings } from './strings.ts'

/** `0.7 s`, `12 s`, or from a minute on `2:05`. */
export function durationText(ms: number, { thread }: Strings): string {
  if (ms >= 59_500) return formatDuration(ms)
  return thread.seconds((ms / 1_000).toFixed(ms < 9_950 ? 1 : 0))
}
