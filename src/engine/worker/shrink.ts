import type { EventData, Json, StoredEvent } from '../../core/model/event.ts'
import { excerpt } from '../../core/text/excerpt.ts'
import { ownWords } from '../../core/views/transcript.ts'

/**
 * Characters of texts, arguments and results that a model gets in full. Above `limit` the oldest are shortened down to
 * `target`: rarely and many at once, so that a provider's cache stays valid.
 */
const WHOLE = { limit: 100_000, target: 50_000 } as const
/** Characters of one step, however recent. */
const MAX_STEP = 200_000
/** Longer arguments are shortened at once, because the tool has them. */
const MAX_INPUT = 10_000
/** Shorter items stay in full. */
const MAX_SHRUNK = 500
/** Characters kept of a long argument. */
const MAX_CUT = 100

/** Characters kept of a text, of arguments or of a result. 0 leaves a short note; unlisted items stay in full. */
export type Rooms = ReadonlyMap<string, number>

/** Call ids are unique within a turn. */
export const keyOf = (kind: 'text' | 'input' | 'result', turn: string | null, id: string): string =>
  `${kind} ${turn} ${id}`

/** Replays earlier shortening before each model call, so that it stays the same. */
export function roomsFor(events: readonly StoredEvent[]): Rooms {
  const rooms = new Map<string, number>()
  let older: Item[] = []
  let latest: Item[] = []
  const shrink = (): void => {
    latest = withinStep(latest, rooms)
    let total = sum(older) + sum(latest)
    if (total <= WHOLE.limit) return
    while (total > WHOLE.target) {
      const [first, ...rest] = older
      older = rest
      if (!first) break
      if (first.size > MAX_SHRUNK) rooms.set(first.key, 0)
      total -= first.size
    }
  }
  for (const { type, turn_id, data } of events) {
    if (type === 'step_finished') {
      shrink()
      older.push(...latest)
      latest = [
        { key: keyOf('text', turn_id, data.message_id), size: data.text.length + reasoningIn(data.parts) },
        ...data.tool_calls.map(call => ({
          key: keyOf('input', turn_id, call.tool_call_id),
          size: Math.min(MAX_INPUT, sizeOf(call.arguments)),
        })),
      ]
    } else if (type === 'tool_answered') {
      latest.push({ key: keyOf('result', turn_id, data.tool_call_id), size: sizeOf(data.result) })
    } else if (type === 'message_added' && data.role === 'assistant') {
      // The final message replaces the text of its step.
      const key = keyOf('text', turn_id, data.message_id)
      latest = [...latest.filter(item => item.key !== key), { key, size: ownWords(data).length }]
    }
  }
  shrink()
  return rooms
}

interface Item {
  readonly key: string
  readonly size: number
}

const sum = (items: readonly Item[]): number => items.reduce((total, { size }) => total + size, 0)
const sizeOf = (value: Json): number => (typeof value === 'string' ? value : JSON.stringify(value)).length

const reasoningIn = (parts: Json | undefined): number =>
  (Array.isArray(parts) ? parts : []).reduce<number>((total, part) => {
    const { type, text } = part as { readonly type?: Json; readonly text?: Json }
    return type === 'reasoning' && typeof text === 'string' ? total + text.length : total
  }, 0)

function withinStep(items: readonly Item[], rooms: Map<string, number>): Item[] {
  const share = shareOf(items)
  for (const { key, size } of items) if (size > share) rooms.set(key, share)
  return items.map(({ key, size }) => ({ key, size: Math.min(size, share) }))
}

/** Characters per item. Short items leave the rest of their share to the others. */
function shareOf(items: readonly Item[]): number {
  const sizes = items.map(({ size }) => size).toSorted((a, b) => a - b)
  let left = MAX_STEP
  for (const [index, size] of sizes.entries()) {
    const share = Math.floor(left / (sizes.length - index))
    if (size > share) return share
    left -= size
  }
  return MAX_STEP
}

export const shrunkText = (text: string, room = MAX_STEP): string => excerpt(text, Math.max(room, MAX_SHRUNK))

/** Head and tail of a result that exceeds its room; without room, one line that says what was left out. */
export function shrunkResult({ tool, result, ok }: EventData['tool_answered'], room = MAX_STEP): Json {
  const size = sizeOf(result)
  if (size <= Math.max(room, MAX_SHRUNK)) return result
  if (room > 0) return excerpt(typeof result === 'string' ? result : JSON.stringify(result), room)
  return `[${tool} ${ok ? 'answered' : 'failed with'} ${size} characters, which are left out here.]`
}

export function shrunkInput(input: Json, room = MAX_INPUT): Json {
  const isWhole = sizeOf(input) <= Math.min(MAX_INPUT, Math.max(room, MAX_SHRUNK))
  if (isWhole || typeof input !== 'object' || input === null) return input
  const cut = Object.entries(input).map(([name, value]) => [name, sizeOf(value) <= MAX_CUT ? value : cutOf(value)])
  const brief = Object.fromEntries(cut) as Json
  return sizeOf(brief) <= MAX_SHRUNK * 4 ? brief : {}
}

const cutOf = (value: Json): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${text.slice(0, MAX_CUT).toWellFormed()} [${text.length - MAX_CUT} characters left out]`
}
