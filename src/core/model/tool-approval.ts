import type { Conversation } from './conversation.ts'
import type { DecisionVia, EventType, Json, StoredEvent } from './event.ts'
import type { Instant } from './instant.ts'
import type { Handlers } from './log.ts'

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

export const TOOL_RULES = ['ask', 'always', 'never'] as const
/**
 * The treatment of a call of a tool from outside: a person is asked, it is made, or the tool is not offered at all.
 */
export type ToolRule = (typeof TOOL_RULES)[number]

export const ASK_FOR = ['all', 'changes', 'none'] as const
/**
 * The calls of a server that need approval where a person has set no rule: all, those of tools that do not declare
 * themselves read-only, or none.
 */
export type AskFor = (typeof ASK_FOR)[number]

/** A rule that a person set. "always" holds for the tool as it was then. */
export interface SavedRule {
  readonly rule: ToolRule
  readonly fingerprint?: string
}

/** Server to tool to its rule. */
export type SavedRules = Readonly<Record<string, Readonly<Record<string, SavedRule>>>>

/** A tool as rules see it. */
export interface RuledTool {
  readonly server: string
  readonly tool: string
  readonly fingerprint: string
  readonly isReadOnly: boolean
  readonly ask: AskFor
}

/** The rule that counts for a tool, and its source. */
export interface Ruling {
  /** The treatment of a model's call; with `never` models do not get the tool. */
  readonly rule: ToolRule
  /** The source of the rule. */
  readonly source: 'page' | 'configuration'
  /** The tool was always allowed, but has changed since, so a person is asked again. */
  readonly changed?: ToolChange
}

/** The maximum of stored rules. */
export const MAX_RULES = 2_000

/**
 * The fingerprint that "always" is bound to: a hash of the tool as its server describes it, and one of the server's
 * address.
 */
export const fingerprintOf = (tool: string, server: string): string => `${tool}.${server}`

/** A person's rule takes precedence over the configuration; "always" counts only while the fingerprint matches. */
export function rulingOf(tool: RuledTool, saved: SavedRules): Ruling {
  const own = savedRule(saved, tool)
  if (!own) return { rule: byConfiguration(tool), source: 'configuration' }
  if (own.rule !== 'always' || own.fingerprint === tool.fingerprint) return { rule: own.rule, source: 'page' }
  const [was = '', ofServer] = (own.fingerprint ?? '').split('.')
  const isTool = was !== tool.fingerprint.split('.')[0]
  return { rule: 'ask', source: 'page', changed: isTool || ofServer === undefined ? 'tool' : 'server' }
}

/** The maximum of outside tools that a model gets: several providers refuse more than 128 in all. */
const MAX_OFFERED = 100

/**
 * The tools that a model gets of those that are on. Servers take turns, so that a server with few tools gets all of
 * them in, in any order of servers.
 */
export function offeredOf<T>(tools: readonly T[], serverOf: (tool: T) => string | undefined): T[] {
  const byServer = [...Map.groupBy(tools, serverOf).values()]
  const ranked = byServer.flatMap(ofServer => ofServer.map((tool, rank) => ({ tool, rank })))
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, MAX_OFFERED)
  const offered = new Set(chosen.map(({ tool }) => tool))
  return tools.filter(tool => offered.has(tool))
}

/** The rule that a person set for a tool, whatever its fingerprint. */
export function savedRule(
  saved: SavedRules,
  { server, tool }: Pick<RuledTool, 'server' | 'tool'>,
): SavedRule | undefined {
  const ofServer = Object.hasOwn(saved, server) ? saved[server] : undefined
  return ofServer && Object.hasOwn(ofServer, tool) ? ofServer[tool] : undefined
}

/** A rule for each named tool; null returns it to the configuration. */
export interface RuleChange {
  readonly server: string
  readonly tool: string
  readonly rule: SavedRule | null
}

export function withRules(saved: SavedRules, changes: readonly RuleChange[]): SavedRules {
  const rules = new Map(Object.entries(saved).map(([server, tools]) => [server, new Map(Object.entries(tools))]))
  for (const { server, tool, rule } of changes) {
    const tools = rules.get(server) ?? new Map<string, SavedRule>()
    if (rule) rules.set(server, tools.set(tool, rule))
    else if (tools.delete(tool) && tools.size === 0) rules.delete(server)
  }
  return Object.fromEntries([...rules].map(([server, tools]) => [server, Object.fromEntries(tools)]))
}

export const countRules = (saved: SavedRules): number =>
  Object.values(saved).reduce((sum, tools) => sum + Object.keys(tools).length, 0)

function byConfiguration({ ask, isReadOnly }: RuledTool): ToolRule {
  if (ask === 'none') return 'always'
  return ask === 'changes' && isReadOnly ? 'always' : 'ask'
}
