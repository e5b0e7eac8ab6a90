import type { Conversation } from './conversation.ts'
import type { DecisionVia, EventData, EventType, Json, StoredEvent } from './event.ts'
import type { Instant } from './instant.ts'
import type { Handlers } from './projection.ts'

export const APPROVAL_DECISIONS = ['allow', 'always', 'deny'] as const
/** What a person says to a call that waits: this once, from now on, or not at all. */
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number]

/** Why a call was denied without a person's word. */
export type ApprovalEnd = 'stopped' | 'turn_ended'

/** What is asked of a person before a call of a tool from outside is made. */
export interface ToolApprovalRequest {
  /** The approval. */
  readonly approval_id: string
  readonly tool_call_id: string
  /** The name of the tool, as the model calls it. */
  readonly tool: string
  /** What the model passes. */
  readonly arguments: Json
  /** The MCP server; absent for tools of a program. */
  readonly server?: string
  /** The tool, as its server calls it. */
  readonly server_tool?: string
  /**
   * What "always" is bound to: the tool as it is described, and its server.
   *
   * Description and schema of the tool, and where its server is.
   */
  readonly fingerprint?: string
  /** The server says that the tool changes nothing. */
  readonly read_only?: true
  /** It was always allowed; since then the tool, or its server, has changed. */
  readonly changed?: ToolChange
}

/** What of a tool is not as it was when it was always allowed. */
export type ToolChange = 'tool' | 'server'

/** A call of a tool that waits for a person. */
export interface ToolApproval extends ToolApprovalRequest {
  readonly turn_id: string
  readonly asked_at: Instant
}

type ApprovalEvent = 'tool_approval_required' | 'tool_approval_resolved'
type Reducers = Required<Pick<Handlers<Conversation, Partial<Conversation>>, ApprovalEvent>>

export const APPROVAL_REDUCERS: Reducers = {
  tool_approval_required: ({ approvals }, { data, turn_id, timestamp: asked_at }) => ({
    // What waits must not wait unseen.
    archived: false,
    approvals: [...approvals, { ...data, turn_id: turn_id ?? '', asked_at }],
  }),
  tool_approval_resolved: ({ approvals }, { data }) => ({
    approvals: approvals.filter(({ approval_id }) => approval_id !== data.approval_id),
  }),
}

/** The calls of a turn that wait. */
export const approvalsOf = ({ approvals }: Pick<Conversation, 'approvals'>, turnId: string): readonly ToolApproval[] =>
  approvals.filter(({ turn_id }) => turn_id === turnId)

/** Whether a turn waits for a person to allow a call. */
export const awaitsApproval = (state: Pick<Conversation, 'approvals'>, turnId: string): boolean =>
  approvalsOf(state, turnId).length > 0

/** The events that tell what became of an approval. */
export const APPROVAL_TYPES = [
  'tool_approval_required',
  'tool_approval_resolved',
] as const satisfies readonly EventType[]

/** An approval that was decided, as the log has it. */
interface DecidedApproval {
  readonly request: ToolApprovalRequest
  readonly decision: ApprovalDecision
  readonly via: DecisionVia
}

/** How an approval that does not wait was decided; undefined if there was none with this id. */
export function decidedApproval(events: readonly StoredEvent[], id: string): DecidedApproval | undefined {
  const asked = events.find(
    (event): event is StoredEvent<'tool_approval_required'> =>
      event.type === 'tool_approval_required' && event.data.approval_id === id,
  )
  const resolved = events.find(
    (event): event is StoredEvent<'tool_approval_resolved'> =>
      event.type === 'tool_approval_resolved' && event.data.approval_id === id,
  )
  if (!asked || !resolved) return undefined
  const { decision, via }: EventData['tool_approval_resolved'] = resolved.data
  return { request: asked.data, decision, via }
}
