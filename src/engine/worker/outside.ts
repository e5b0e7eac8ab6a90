import type { Json } from '../../core/model/event.ts'
import type { Redactor, Secrets } from '../../core/text/redact.ts'
import { excerpt } from '../../core/text/plain-text.ts'
import type { RuledTool } from '../../core/model/tool-approval.ts'

/** Any tool besides the toolset's own: from an MCP server, or passed in by a program. */
export interface OutsideTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly [key: string]: unknown }
  /** Whether a call may be repeated if it is unknown whether it ran: read-only or idempotent tools. */
  readonly isRepeatable: boolean
  readonly call: (input: unknown, signal: AbortSignal, ids: CallIds) => Promise<Json>
  /** Its MCP server, to which a person's rules apply. Without it no approval is requested. */
  readonly from?: RuledTool
}

/** Identifies a call to its tool. */
export interface CallIds {
  /** The call's id in the log. Other turns may use the same id. */
  readonly toolCallId: string
  /** Unique to the call across all conversations, and the same if the call is repeated. */
  readonly idempotencyKey: string
}

/** A source of outside tools. Tools that cannot be listed are reported and left out. */
export interface OutsideTools {
  /** `model`: the model that uses them. */
  list(model?: string): Promise<readonly OutsideTool[]>
  close(): Promise<void>
  /** Secrets that must not appear in its errors. */
  readonly secrets?: Secrets
}

export const noTools: OutsideTools = { list: async () => [], close: async () => {} }

export const givenTools = (tools: readonly OutsideTool[]): OutsideTools => ({
  list: async () => tools,
  close: async () => {},
})

export const joinedTools = (...sources: readonly OutsideTools[]): OutsideTools => ({
  list: async model => (await Promise.all(sources.map(source => source.list(model)))).flat(),
  close: async () => void (await Promise.all(sources.map(source => source.close()))),
})

export const onlyFor = (model: string, tools: OutsideTools): OutsideTools => ({
  list: async asked => (asked === model ? tools.list(asked) : []),
  close: () => tools.close(),
})

/** Removes our secrets and control characters from tools' descriptions of themselves. */
export function withoutSecrets(tools: OutsideTools, redact: Redactor): OutsideTools {
  // Cached, because schemas are listed for every step and rarely change.
  const cleaned = new WeakMap<object, OutsideTool['inputSchema']>()
  const schemaOf = ({ inputSchema }: OutsideTool): OutsideTool['inputSchema'] => {
    const clean = cleaned.get(inputSchema) ?? (redact.described(asJson(inputSchema)) as OutsideTool['inputSchema'])
    cleaned.set(inputSchema, clean)
    return clean
  }
  const described = (tool: OutsideTool): OutsideTool => {
    const { description } = redact.described({ description: tool.description }) as { description: string }
    return { ...tool, description, inputSchema: schemaOf(tool) }
  }
  return { list: async model => (await tools.list(model)).map(described), close: () => tools.close() }
}

export interface OutsideLimits {
  readonly timeoutMs: number
  readonly maxCharacters: number
}

export const DEFAULT_LIMITS: OutsideLimits = { timeoutMs: 60_000, maxCharacters: 40_000 }

export interface CallOptions {
  readonly ids: CallIds
  readonly signal: AbortSignal
  readonly limits: OutsideLimits
  readonly redact: Redactor
}

/** Calls a tool. Errors, timeouts and results that are too long are answers, too. */
export async function answerOf(
  tool: OutsideTool,
  input: unknown,
  { ids, signal, limits: { timeoutMs, maxCharacters }, redact }: CallOptions,
): Promise<{ readonly result: Json; readonly ok: boolean }> {
  signal.throwIfAborted()
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs)
  const until = AbortSignal.any([signal, late.signal])
  try {
    const aborted = Promise.withResolvers<never>()
    until.addEventListener('abort', () => aborted.reject(until.reason), { once: true })
    const call = async (): Promise<Json> => tool.call(input, until, ids)
    const result = await Promise.race([call(), aborted.promise])
    return { result: bounded(redact.content(asJson(result)), maxCharacters), ok: true }
  } catch (error) {
    // A stop ends the turn; it is not the tool's answer.
    if (signal.aborted) throw signal.reason
    const message = error instanceof Error ? error.message : String(error)
    return { result: `Error: ${bounded(redact.error(message), 2_000)}`, ok: false }
  } finally {
    clearTimeout(timer)
  }
}

/** A program's tool may return anything, but only JSON is stored. */
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null') as Json

/** A long result keeps its head and tail, and says how much is missing. */
function bounded<T extends Json>(result: T, max: number): T | string {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return text.length <= max ? result : excerpt(text, max)
}
