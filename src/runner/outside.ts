import type { Json } from '../domain/event.ts'

/** A tool that is not ours: of an MCP server, or passed in by a program. */
export interface OutsideTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly [key: string]: unknown }
  /** It may be made again when nobody knows whether it was. */
  readonly isRepeatable: boolean
  readonly call: (input: unknown, signal: AbortSignal) => Promise<Json>
}

/** Where the tools of a turn come from. What cannot be had is reported and left out. */
export interface OutsideTools {
  list(): Promise<readonly OutsideTool[]>
  close(): Promise<void>
}

export const noTools: OutsideTools = { list: async () => [], close: async () => {} }

export const givenTools = (tools: readonly OutsideTool[]): OutsideTools => ({
  list: async () => tools,
  close: async () => {},
})

export interface OutsideLimits {
  readonly timeoutMs: number
  readonly mostCharacters: number
}

export const USUAL_LIMITS: OutsideLimits = { timeoutMs: 60_000, mostCharacters: 40_000 }

/** What a tool answers, whatever it does: fails, hangs or floods. */
export async function answerOf(
  tool: OutsideTool,
  input: unknown,
  signal: AbortSignal,
  { timeoutMs, mostCharacters }: OutsideLimits = USUAL_LIMITS,
): Promise<{ readonly result: Json; readonly ok: boolean }> {
  signal.throwIfAborted()
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs)
  const until = AbortSignal.any([signal, late.signal])
  try {
    const given = Promise.withResolvers<never>()
    until.addEventListener('abort', () => given.reject(until.reason), { once: true })
    const call = async (): Promise<Json> => tool.call(input, until)
    const result = await Promise.race([call(), given.promise])
    return { result: bounded(asJson(result), mostCharacters), ok: true }
  } catch (error) {
    // A stop is no answer of the tool's: the turn ends, and says so.
    if (signal.aborted) throw signal.reason
    const message = error instanceof Error ? error.message : String(error)
    return { result: `Error: ${bounded(message, 2_000)}`, ok: false }
  } finally {
    clearTimeout(timer)
  }
}

/** A program may give anything; what is kept and told is JSON. */
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null') as Json

/** As much as a model can use; what is left out is said. */
function bounded<T extends Json>(result: T, most: number): T | string {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  if (text.length <= most) return result
  return `${text.slice(0, most).toWellFormed()}\n[cut: ${text.length - most} more characters]`
}
