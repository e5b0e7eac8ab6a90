import type { ServerContext } from '@modelcontextprotocol/server'
import type { Sources } from '../domain/command.ts'
import { type Conversation, isPlanOver } from '../domain/conversation.ts'
import { invalidField } from '../domain/refusal.ts'
import { LIMITS, line, Problem } from '../domain/text.ts'

/** Keys that a host may set in `_meta` of a request. Models neither see nor set them. */
export const META = {
  session: 'runsheet/session_id',
  turn: 'runsheet/turn_id',
  call: 'runsheet/tool_call_id',
  userMessage: 'runsheet/source_user_message_id',
  assistantMessage: 'runsheet/source_assistant_message_id',
} as const

export const HEADERS = { session: 'runsheet-session', turn: 'runsheet-turn', toolset: 'runsheet-toolset' } as const

/** Which conversation and turn a request belongs to, as its host says. */
export interface Binding {
  readonly conversation: string
  /** Undefined if the host names none: then each plan has a turn of its own. */
  readonly turn: string | undefined
  readonly toolCallId: string | undefined
  readonly sources: Sources
}

/** `_meta` counts before headers, headers before the connection's own conversation. An invalid name is refused, not ignored. */
export function bindingOf({ mcpReq, http }: ServerContext, ownConversation: () => string): Binding {
  const meta = (key: string): string | undefined => {
    const value = mcpReq._meta?.[key]
    if (value === undefined) return undefined
    const clean = line(value, LIMITS.reference)
    if (clean instanceof Problem) throw invalidField(`_meta ${key}`, clean.fact)
    return clean
  }
  const header = (name: string): string | undefined => http?.req?.headers.get(name) ?? undefined
  return {
    conversation: meta(META.session) ?? header(HEADERS.session) ?? ownConversation(),
    turn: meta(META.turn) ?? header(HEADERS.turn),
    toolCallId: meta(META.call),
    sources: {
      source_user_message_id: meta(META.userMessage),
      source_assistant_message_id: meta(META.assistantMessage),
    },
  }
}

/** The conversation of a client without sessions: one for each client name. */
export const clientConversation = (client = 'client'): string =>
  `mcp-${client.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64) || 'client'}`

/**
 * The turn of a call whose host names none: that of the current plan, or a new one if the call creates and that plan is
 * over. Derived from the log, so that concurrent calls and restarted processes agree.
 */
export function turnFor(state: Conversation, creates: boolean): string {
  const latest = state.turns.get(state.latest_turn ?? '')
  if (latest?.status === 'open') {
    // Short-circuited: isPlanOver scans the whole list.
    const isOver = creates && (latest.stop_requested || isPlanOver(state, latest.id))
    if (!isOver) return latest.id
  }
  let number = state.turns.size + 1
  while (state.turns.has(`plan_${number}`)) number += 1
  return `plan_${number}`
}
