/** Such as `1:05`, or `2:30 h` from one hour on. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const pad = (value: number): string => String(value).padStart(2, '0')
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)}:${pad(Math.floor((seconds % 3_600) / 60))} h`
  return `${Math.floor(seconds / 60)}:${pad(seconds % 60)}`
}
