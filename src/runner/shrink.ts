import type { EventData, Json, StoredEvent } from '../domain/event.ts'

/**
 * Arguments and results that a model is sent whole, in characters. Beyond the limit the oldest are told in short until
 * `target` is met: rarely and many at once, so that a provider can reuse what it has cached.
 */
const WHOLE = { limit: 100_000, target: 50_000 } as const
/** What is not longer than this stays as it is. */
const MAX_SHRUNK = 500
/** Characters that are left of a long argument. */
const MAX_CUT = 100

/** The answered calls that are told in short. */
export type Shrunk = ReadonlySet<string>

/** Call ids are unique within a turn. */
export const keyOf = (turn: string | null, call: string): string => `${turn} ${call}`

/** Replays what was shrunk before each model call. The results of the latest step stay whole. */
export function shrunkCalls(events: readonly StoredEvent[]): Shrunk {
  const shrunk = new Set<string>()
  const inputs = new Map<string, number>()
  let older: { readonly key: string; readonly size: number }[] = []
  let latest: typeof older = []
  const shrink = (): void => {
    let total = sum(older) + sum(latest)
    if (total <= WHOLE.limit) return
    while (older.length > 0 && total > WHOLE.target) {
      const [first, ...rest] = older
      older = rest
      shrunk.add(first?.key ?? '')
      total -= first?.size ?? 0
    }
  }
  for (const { type, turn_id, data } of events) {
    if (type === 'step_finished') {
      shrink()
      older.push(...latest)
      latest = []
      for (const call of data.tool_calls) inputs.set(keyOf(turn_id, call.tool_call_id), sizeOf(call.arguments))
    } else if (type === 'tool_answered') {
      const key = keyOf(turn_id, data.tool_call_id)
      latest.push({ key, size: (inputs.get(key) ?? 0) + sizeOf(data.result) })
    }
  }
  shrink()
  return shrunk
}

const sum = (calls: readonly { readonly size: number }[]): number => calls.reduce((total, { size }) => total + size, 0)
const sizeOf = (value: Json): number => (typeof value === 'string' ? value : JSON.stringify(value)).length

/** One line that says what was left out. */
export function shrunkResult({ tool, result, ok }: EventData['tool_answered']): Json {
  const size = sizeOf(result)
  if (size <= MAX_SHRUNK) return result
  const outcome = ok ? 'answered' : 'failed with'
  return `[${tool} ${outcome} ${size} characters, which are left out here. Call it again if you need them.]`
}

/** The arguments with their long texts cut. */
export function shrunkInput(input: Json): Json {
  if (sizeOf(input) <= MAX_SHRUNK || typeof input !== 'object' || input === null) return input
  const cut = Object.entries(input).map(([name, value]) => [name, sizeOf(value) <= MAX_CUT ? value : cutOf(value)])
  const brief = Object.fromEntries(cut) as Json
  return sizeOf(brief) <= MAX_SHRUNK * 4 ? brief : {}
}

const cutOf = (value: Json): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${text.slice(0, MAX_CUT).toWellFormed()} [${text.length - MAX_CUT} characters left out]`
}
