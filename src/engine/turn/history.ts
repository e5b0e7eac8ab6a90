import type { ModelMessage } from 'ai'
import type { EventData, Json, StoredEvent } from '../../core/model/event.ts'
import { dispatch, typesOf, type Handlers } from '../../core/model/log.ts'
import { ownWords } from '../../core/views/transcript.ts'
import { excerpt } from '../../core/text/plain-text.ts'

/** Messages for a model: the last `limit` of earlier turns, then those of this turn. */
export function historyOf(earlier: readonly StoredEvent[], own: readonly StoredEvent[], limit: number): ModelMessage[] {
  const rooms = roomsFor([...earlier, ...own])
  const messages = messagesOf(own, rooms)
  return [...earlierMessages(earlier, messages, limit, rooms), ...messages]
}

/** Whole turns only: every tool call needs its answer. */
function earlierMessages(
  events: readonly StoredEvent[],
  own: readonly ModelMessage[],
  limit: number,
  rooms: Rooms,
): ModelMessage[] {
  const turns = [...Map.groupBy(events, ({ turn_id }) => turn_id ?? '').values()]
  const earlier: ModelMessage[] = []
  let next = own
  for (const turn of turns.toReversed()) {
    const messages = messagesOf(turn, rooms)
    if (isRetried(messages, next)) continue
    next = messages
    if (earlier.length + messages.length > limit) {
      return earlier.length === 0 ? endOf(messages, limit) : earlier
    }
    earlier.unshift(...messages)
  }
  return earlier
}

/** Whether a turn produced nothing and the next one repeats its request. */
const isRetried = ([request, ...rest]: readonly ModelMessage[], [next]: readonly ModelMessage[]): boolean =>
  rest.length === 0 && (request === undefined || request.content === next?.content)

/** A turn beyond the limit: its request and its last whole steps. */
function endOf(messages: readonly ModelMessage[], limit: number): ModelMessage[] {
  const [request, ...rest] = messages
  if (!request || limit < 2) return []
  const end = rest.slice(1 - limit)
  const start = end.findIndex(({ role }) => role !== 'tool')
  return start < 0 ? [request] : [request, ...end.slice(start)]
}

function messagesOf(events: readonly StoredEvent[], rooms: Rooms): ModelMessage[] {
  const answered = new Set(events.flatMap(event => (event.type === 'tool_answered' ? [event.data.tool_call_id] : [])))
  const history: History = { messages: [], steps: new Map(), called: new Set(), answered, rooms }
  for (const event of events) dispatch(HANDLERS, history, event, undefined)
  return history.messages.filter(({ content }) => content.length > 0)
}

interface History {
  readonly messages: ModelMessage[]
  /** Maps a step's message id to its index in `messages`. */
  readonly steps: Map<string, number>
  readonly called: Set<string>
  readonly answered: ReadonlySet<string>
  readonly rooms: Rooms
}

const HANDLERS: Handlers<History, void> = {
  turn_started: ({ messages }, { data }) => void messages.push({ role: 'user', content: data.message }),
  step_finished: ({ messages, steps, called, answered, rooms }, { turn_id, data }) => {
    steps.set(data.message_id, messages.length)
    for (const call of data.tool_calls) called.add(call.tool_call_id)
    messages.push(assistant(turn_id, data, answered, rooms))
  },
  tool_answered: ({ messages, called, rooms }, { turn_id, data }) => {
    const { tool_call_id: toolCallId, tool: toolName } = data
    // Calls of external agents belong to no step.
    if (!called.has(toolCallId)) return
    const result = shrunkResult(data, rooms.get(keyOf('result', turn_id, toolCallId)))
    messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: output(result) }] })
  },
  message_added: ({ messages, steps, rooms }, { turn_id, data }) => {
    const { message_id, role } = data
    const text = ownWords(data)
    const place = steps.get(message_id)
    const content = role === 'assistant' ? shrunkText(text, rooms.get(keyOf('text', turn_id, message_id))) : text
    // The final message replaces the text of its step.
    if (place !== undefined) messages[place] = { role: 'assistant', content }
    else if (role !== 'system') messages.push({ role, content })
  },
}

export const HISTORY_TYPES = typesOf(HANDLERS)

type Parts = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>

/** A step in the provider's own format, without calls that were never answered. */
function assistant(
  turn: string | null,
  { message_id, text, parts }: EventData['step_finished'],
  answered: ReadonlySet<string>,
  rooms: Rooms,
): ModelMessage {
  const room = rooms.get(keyOf('text', turn, message_id))
  if (!isParts(parts)) return { role: 'assistant', content: shrunkText(text, room) }
  const content = parts.flatMap((part): Parts => {
    if (part.type !== 'tool-call') return [part]
    const input = shrunkInput(part.input as Json, rooms.get(keyOf('input', turn, part.toolCallId)))
    return answered.has(part.toolCallId) ? [{ ...part, input }] : []
  })
  return { role: 'assistant', content: room === undefined ? content : withoutProse(content, shrunkText(text, room)) }
}

/** Replaces all texts with one. Reasoning is dropped: it may be signed, and cannot be cut. */
function withoutProse(parts: Parts, text: string): Parts {
  const others = parts.filter(({ type }) => type !== 'text' && type !== 'reasoning')
  return text === '' ? others : [{ type: 'text', text }, ...others]
}

const isParts = (parts: unknown): parts is Parts => Array.isArray(parts)

function output(result: Json): { type: 'text'; value: string } | { type: 'json'; value: never } {
  return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result as never }
}

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
