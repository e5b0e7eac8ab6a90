import type { CheckSpec } from './check.ts'

/** The only name that an agent hears of a held-out check. */
export const HELD_OUT = 'held-out check'

export const isHidden = (check: CheckSpec): boolean => 'hidden' in check && check.hidden

export const hasHidden = (checks: readonly CheckSpec[] | undefined): boolean => checks?.some(isHidden) ?? false

/** The number of a task's held-out checks, to follow its standing: "proven, 1 held out". */
export const heldOutWords = (checks: readonly CheckSpec[] | undefined): string => {
  const count = (checks ?? []).filter(isHidden).length
  return count === 0 ? '' : `, ${count} held out`
}

/** Also for the judge's reason, which may quote a check. */
export const NOT_ACCEPTED = 'Not accepted.'

/** A value as an agent may read it. Whatever is marked `hidden` keeps only the fields that tell that it exists and failed. */
export function forAgent<T>(value: T): T {
  return sealed(value) as T
}

/** The same for JSON text. */
export const textForAgent = (json: string): string =>
  hasMark(json) ? JSON.stringify(forAgent(JSON.parse(json))) : json

export const hasMark = (json: string): boolean => json.includes('"hidden":true')

function sealed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sealed)
  const entries = Object.entries(value)
  if (!('hidden' in value) || value.hidden !== true) {
    return Object.fromEntries(entries.map(([name, each]) => [name, SAID.test(name) ? each : sealed(each)]))
  }
  const shown = Object.fromEntries(entries.filter(([name]) => isShown(name)))
  if ('verdict' in value) return { ...shown, reason: NOT_ACCEPTED }
  // Of the form of a check, so that every reader of checks can read it.
  return isCheck(value) ? { ...shown, kind: 'command', run: [HELD_OUT] } : shown
}

/** What agents said and were told: a `hidden` in there is not ours. */
const SAID = /^(arguments|answer|result|parts)$/

const isCheck = (value: object): boolean => 'kind' in value && KINDS.has(value.kind)

const KINDS: ReadonlySet<unknown> = new Set<CheckSpec['kind']>(['command', 'file', 'unchanged', 'person'])

const OF_CHECKS = /^(hidden|kind|id|hash|approved|state|baseline)$/
const OF_RUNS = /^(\w+_id|why|via|origin|pass|tries|result|duration_ms|fingerprint|at|seq)$/
const OF_VERDICTS = /^(verdict|model|seal|rests|fenced|cited|usage|uncited|on_words_alone)$/
const isShown = (name: string): boolean => [OF_CHECKS, OF_RUNS, OF_VERDICTS].some(names => names.test(name))
