const MINUTE = 60_000

const UNITS = [
  ['day', 24 * 60 * MINUTE],
  ['hour', 60 * MINUTE],
  ['minute', MINUTE],
  ['second', 1_000],
] as const

/** Uses the largest unit that divides the span. */
export function spanText(ms: number, locale: string): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? (['second', 1_000] as const)
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(ms / size)
}
