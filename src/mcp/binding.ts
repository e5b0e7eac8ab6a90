import type { ServerContext } from '@modelcontextprotocol/server'
import { type Conversation, isPlanOver } from '../domain/conversation.ts'
import type { Sources } from '../domain/command.ts'
import { invalidField } from '../domain/refusal.ts'
import { LIMITS, line, Problem } from '../domain/text.ts'

/** What a host may say beside a call's arguments: no model sees or sets it. */
export const META = {
  session: 'runsheet/session_id',
  turn: 'runsheet/turn_id',
  call: 'runsheet/tool_call_id',
  userMessage: 'runsheet/source_user_message_id',
  assistantMessage: 'runsheet/source_assistant_message_id',
} as const

export const HEADERS = { session: 'runsheet-session', turn: 'runsheet-turn', toolset: 'runsheet-toolset' } as const

/** Where a request belongs, by who is connected and how. */
export interface Bound {
  readonly conversation: string
  /** The host's own; where it names none, there is a turn for each plan. */
  readonly turn: string | undefined
  readonly toolCallId: string | undefined
  readonly sources: Sources
}

/** A request's own word counts before that of its connection. What cannot be meant is refused, and never taken for nothing. */
export function boundBy({ mcpReq, http }: ServerContext, usual: () => string): Bound {
  const said = (key: string): string | undefined => {
    const value = mcpReq._meta?.[key]
    if (value === undefined) return undefined
    const clean = line(value, LIMITS.reference)
    if (clean instanceof Problem) throw invalidField(`_meta ${key}`, clean.fact)
    return clean
  }
  const header = (name: string): string | undefined => http?.req?.headers.get(name) ?? undefined
  return {
    conversation: said(META.session) ?? header(HEADERS.session) ?? usual(),
    turn: said(META.turn) ?? header(HEADERS.turn),
    toolCallId: said(META.call),
    sources: {
      source_user_message_id: said(META.userMessage),
      source_assistant_message_id: said(META.assistantMessage),
    },
  }
}

/**
 * The turn that a call is in where the host has none: the plan's. What is created once that is over is another plan, in
 * a turn of its own. Told by the log alone, so that calls that come at once, or after a restart, agree.
 */
export function turnFor(state: Conversation, creates: boolean): string {
  const latest = state.turns.get(state.latest_turn ?? '')
  if (latest?.status === 'open') {
    // Asked only where it matters: it looks through the whole list.
    const isOver = creates && (latest.stop_requested || isPlanOver(state, latest.id))
    if (!isOver) return latest.id
  }
  let number = state.turns.size + 1
  while (state.turns.has(`plan_${number}`)) number += 1
  return `plan_${number}`
}
