import type { HookHost } from '../hosts/hosts.ts'
import type { HookEvent } from './event.ts'
import { eventOf, type Payload } from './payload.ts'

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

export function eventOfTool(
  host: HookHost,
  input: unknown,
): { readonly name: string; readonly event: HookEvent } | undefined {
  const args = typeof input === 'object' && input !== null ? (input as Payload) : {}
  const { event: name } = args
  if (typeof name !== 'string') return undefined
  const fields = Object.entries(FIELDS).flatMap(([name, into]) => {
    const value = args[name]
    // Claude Code sends "" for a missing field.
    return value === undefined || value === '' ? [] : into.map(field => [field, unwrapped(name, value)] as const)
  })
  const event = eventOf(host, name, Object.fromEntries(fields))
  return event && { name, event }
}

/** Claude Code sends objects as JSON strings. */
function unwrapped(name: string, value: unknown): unknown {
  if ((name !== 'input' && name !== 'response') || typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
