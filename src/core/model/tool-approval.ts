import type { Conversation } from './conversation.ts'
import type { DecisionVia, EventType, Json, StoredEvent } from './event.ts'
import type { Instant } from './instant.ts'
import type { Handlers } from './projection.ts'

export const APPROVAL_DECISIONS = ['allow', 'always', 'deny'] as const
/** A person's decision on a waiting call: allow it once, allow it always, or deny it. */
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number]

/** The reason a call was denied without a person's decision. */
export type ApprovalEnd = 'stopped' | 'turn_ended'

/** A request for a person's approval before a call of a tool from outside. */
export interface ToolApprovalRequest {
  /** The approval. */
  readonly approval_id: string
  readonly tool_call_id: string
  /** The name of the tool, as the model calls it. */
  readonly tool: string
  /** The arguments that the model passed. */
  readonly arguments: Json
  /** The MCP server; absent for tools of a program. */
  readonly server?: string
  /** The name of the tool on its server. */
  readonly server_tool?: string
  /**
   * A fingerprint of the tool and its server, to which "always" is bound.
   *
   * It covers the description and schema of the tool, and the address of its server.
   */
  readonly fingerprint?: string
  /** The server says that the tool changes nothing. */
  readonly read_only?: true
  /** The tool was always allowed, but it or its server has changed since. */
  readonly changed?: ToolChange
}

/** The part of a tool that has changed since it was always allowed. */
export type ToolChange = 'tool' | 'server'

/** A tool call that waits for a person. */
export interface ToolApproval extends ToolApprovalRequest {
  readonly turn_id: string
  readonly asked_at: Instant
}

export const APPROVAL_REDUCERS = {
  tool_approval_required: ({ approvals }, { data, turn_id, timestamp: asked_at }) => ({
    // A waiting call brings its conversation back from the archive, so that a person sees it.
    archived: false,
    approvals: [...approvals, { ...data, turn_id: turn_id ?? '', asked_at }],
  }),
  tool_approval_resolved: ({ approvals }, { data }) => ({
    approvals: approvals.filter(({ approval_id }) => approval_id !== data.approval_id),
  }),
} satisfies Handlers<Conversation, Partial<Conversation>>

export const approvalsOf = ({ approvals }: Pick<Conversation, 'approvals'>, turnId: string): readonly ToolApproval[] =>
  approvals.filter(({ turn_id }) => turn_id === turnId)

export const awaitsApproval = (state: Pick<Conversation, 'approvals'>, turnId: string): boolean =>
  approvalsOf(state, turnId).length > 0

export const APPROVAL_TYPES = [
  'tool_approval_required',
  'tool_approval_resolved',
] as const satisfies readonly EventType[]

interface DecidedApproval {
  readonly request: ToolApprovalRequest
  readonly decision: ApprovalDecision
  readonly via: DecisionVia
}

/** The decision on an approval that no longer waits; undefined if there was none with this id. */
export function decidedApproval(events: readonly StoredEvent[], id: string): DecidedApproval | undefined {
  const own = events.filter(({ data }) => 'approval_id' in data && data.approval_id === id)
  const [request] = own.flatMap(event => (event.type === 'tool_approval_required' ? [event.data] : []))
  const [resolved] = own.flatMap(event => (event.type === 'tool_approval_resolved' ? [event.data] : []))
  return request && resolved && { request, decision: resolved.decision, via: resolved.via }
}
