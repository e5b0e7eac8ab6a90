import type { Json } from './event.ts'
import { excerpt } from './excerpt.ts'
import { plainText } from './plain-text.ts'

/** Who says so: a call that a turn of ours made itself, or a report of the agent's host or of the agent. */
export type EvidenceSource = 'run' | 'host' | 'agent'

/** A tool call with its answer. */
export interface ToolFact {
  /** The name of the tool. */
  readonly tool: string
  /** What the tool was given, in short if it is long. */
  readonly arguments: Json
  /** What it answered, in short if it is long. */
  readonly answer: Json
  /** Whether the call succeeded. */
  readonly ok: boolean
}

/** What others may report in one turn. */
export const MAX_REPORTS = 1_000
/** Bytes of arguments and answer together, as JSON. */
const MAX_BYTES = 8_000
/** Bytes of the answer; the arguments get the rest. */
const MAX_ANSWER_BYTES = 6_000

/** The same call in 8 kB: a long answer, then long arguments, keep head and tail and say how much is left out. */
export function boundedFact<T extends ToolFact>(fact: T): T {
  const answer = bounded(fact.answer, MAX_ANSWER_BYTES)
  return { ...fact, arguments: bounded(fact.arguments, MAX_BYTES - bytesOf(answer)), answer }
}

/** Every text as a terminal would show it, names of fields included. */
export function plainJson(value: Json): Json {
  if (typeof value === 'string') return plainText(value.toWellFormed())
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plainJson)
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [plainText(name.toWellFormed()), plainJson(each)]),
  )
}

/** What is too long to stay as it is, as one text: that is redacted in a fraction of the time of its many parts. */
export function asTextIfLong(value: Json): Json {
  const text = JSON.stringify(value)
  return typeof value === 'string' || text.length <= MAX_BYTES ? value : text
}

/** How many calls are shown: usually, and if it takes more for the last of each tool. */
export interface Shown {
  readonly usual: number
  readonly max: number
}

/**
 * The calls that tell most, in log order. The last failure and the last call of each tool stay, up to `max`; up to `usual`
 * there are the other failures, then the other calls, the newest first.
 */
export function mostTelling<T extends Pick<ToolFact, 'tool' | 'ok'>>(calls: readonly T[], { usual, max }: Shown): T[] {
  const newestFirst = calls.toReversed()
  const failures = newestFirst.filter(({ ok }) => !ok)
  const lasting = new Set([...lastOfEachTool(failures), ...lastOfEachTool(newestFirst)])
  const ranked = new Set([...lasting, ...failures, ...newestFirst])
  const kept = new Set([...ranked].slice(0, Math.min(max, Math.max(usual, lasting.size))))
  return calls.filter(each => kept.has(each))
}

const lastOfEachTool = <T extends Pick<ToolFact, 'tool'>>(newestFirst: readonly T[]): T[] =>
  [...Map.groupBy(newestFirst, ({ tool }) => tool).values()].flatMap(calls => calls.slice(0, 1))

/** Calls of a tool that are not shown. */
export interface LeftOut {
  readonly tool: string
  readonly calls: number
  readonly failed: number
}

/** How many calls of each tool are not among those that were kept, and how many of them failed. */
export function leftOut<T extends Pick<ToolFact, 'tool' | 'ok'>>(calls: readonly T[], kept: readonly T[]): LeftOut[] {
  const rest = calls.filter(each => !kept.includes(each))
  return [...Map.groupBy(rest, ({ tool }) => tool)].map(([tool, group]) => ({
    tool,
    calls: group.length,
    failed: group.filter(({ ok }) => !ok).length,
  }))
}

function bounded(value: Json, limit: number): Json {
  if (bytesOf(value) <= limit) return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  for (let room = limit; ; ) {
    const short = excerpt(text, room)
    const bytes = bytesOf(short)
    if (bytes <= limit) return short
    room = Math.min(room - 1, Math.floor((room * limit) / bytes))
  }
}

const bytesOf = (value: Json): number => new TextEncoder().encode(JSON.stringify(value)).length
