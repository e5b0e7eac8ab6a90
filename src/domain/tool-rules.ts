import type { ToolChange } from './tool-approval.ts'

export const TOOL_RULES = ['ask', 'always', 'never'] as const
/** What happens when a model calls a tool from outside: a person is asked, it is made, or it is not offered at all. */
export type ToolRule = (typeof TOOL_RULES)[number]

export const ASK_FOR = ['all', 'changes', 'none'] as const
/**
 * Which calls of a server are asked about where a person has set no rule: all, those of tools that do not say of
 * themselves that they only read, or none.
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

/** The rule that counts for a tool, and who set it. */
export interface Ruling {
  /** What happens when a model calls it; with `never` models do not get it. */
  readonly rule: ToolRule
  /** Who set the rule. */
  readonly source: 'page' | 'configuration'
  /** It was always allowed, and has changed since: so it is asked about again. */
  readonly changed?: ToolChange
}

/** The most rules that are kept. */
export const MAX_RULES = 2_000

/** What "always" is bound to: a hash of the tool as its server describes it, and one of where the server is. */
export const fingerprintOf = (tool: string, server: string): string => `${tool}.${server}`

/** A person's rule counts before the configuration; an "always" only for the tool that it was said of. */
export function rulingOf(tool: RuledTool, saved: SavedRules): Ruling {
  const own = savedRule(saved, tool)
  if (!own) return { rule: byConfiguration(tool), source: 'configuration' }
  if (own.rule !== 'always' || own.fingerprint === tool.fingerprint) return { rule: own.rule, source: 'page' }
  const [was = '', ofServer] = (own.fingerprint ?? '').split('.')
  const isTool = was !== tool.fingerprint.split('.')[0]
  return { rule: 'ask', source: 'page', changed: isTool || ofServer === undefined ? 'tool' : 'server' }
}

/** The most tools from outside that a model gets: several providers refuse more than 128 in all. */
const MAX_OFFERED = 100

/**
 * The tools that a model gets, of those that are on. Servers take turns, so that one with few tools has all of them in,
 * whichever was there first.
 */
export function offeredOf<T>(tools: readonly T[], serverOf: (tool: T) => string | undefined): T[] {
  const byServer = [...Map.groupBy(tools, serverOf).values()]
  const ranked = byServer.flatMap(ofServer => ofServer.map((tool, rank) => ({ tool, rank })))
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, MAX_OFFERED)
  const offered = new Set(chosen.map(({ tool }) => tool))
  return tools.filter(tool => offered.has(tool))
}

/** The rule that a person set for a tool, in whatever form it was. */
export function savedRule(
  saved: SavedRules,
  { server, tool }: Pick<RuledTool, 'server' | 'tool'>,
): SavedRule | undefined {
  const ofServer = Object.hasOwn(saved, server) ? saved[server] : undefined
  return ofServer && Object.hasOwn(ofServer, tool) ? ofServer[tool] : undefined
}

/** A rule for each named tool; null gives it back to the configuration. */
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
