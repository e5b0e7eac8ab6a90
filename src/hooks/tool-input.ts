import type { HookEvent, HookHost } from './event.ts'
import { eventOf, type Payload } from './payload.ts'

/** The clients that call the tool `hook`, by the name that they give. */
export const HOOK_CLIENTS: ReadonlyMap<string | undefined, HookHost> = new Map([
  ['claude-code', 'claude-code'],
  ['codex-mcp-client', 'codex'],
])

/** The arguments of the tool and the fields of a payload that they stand for. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  session: ['session_id'],
  turn: ['prompt_id', 'turn_id'],
  tool: ['tool_name'],
  call: ['tool_use_id'],
  input: ['tool_input'],
  response: ['tool_response'],
  source: ['source'],
  error: ['error'],
  prompt: ['prompt'],
  agent: ['agent_id'],
}

/** The event that a host put into the arguments of the tool `hook`, and the host's name of it. */
export function eventOfTool(
  host: HookHost,
  input: unknown,
): { readonly name: string; readonly event: HookEvent } | undefined {
  const args = typeof input === 'object' && input !== null ? (input as Payload) : {}
  const { event: name } = args
  if (typeof name !== 'string') return undefined
  const fields = Object.entries(FIELDS).flatMap(([name, into]) => {
    const value = args[name]
    // Claude Code has "" for what an event lacks.
    return value === undefined || value === '' ? [] : into.map(field => [field, unwrapped(name, value)] as const)
  })
  const event = eventOf(host, name, Object.fromEntries(fields))
  return event && { name, event }
}

/** Claude Code sends objects as JSON. */
function unwrapped(name: string, value: unknown): unknown {
  if ((name !== 'input' && name !== 'response') || typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
