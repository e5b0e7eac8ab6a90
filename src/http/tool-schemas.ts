import * as z from 'zod'
import { APPROVAL_DECISIONS } from '../domain/tool-approval.ts'
import { ASK_FOR, TOOL_RULES } from '../domain/tool-rules.ts'
import type * as wire from '../domain/wire.ts'
import { described } from './described.ts'
import { exact } from './exact.ts'
import { instant } from './schemas.ts'

const MAX_TOOLS = 500

const fingerprint = described(z.string(), 'send it with "always", which is bound to it')

const tool = exact<wire.ServerToolView>()(
  z.object({
    name: described(z.string(), 'as its server calls it'),
    title: z.string().exactOptional(),
    description: z.string(),
    read_only: described(z.boolean(), 'the server says that it changes nothing'),
    fingerprint,
    rule: described(z.enum(TOOL_RULES), 'what happens when a model calls it; with `never` models do not get it'),
    source: described(z.enum(['page', 'configuration']), 'who set the rule'),
    changed: described(
      z.enum(['tool', 'server']),
      'it was always allowed, and has changed since: it is asked about again',
    ).exactOptional(),
    left_out: described(z.literal(true), 'too many tools are on: models do not get this one').exactOptional(),
  }),
)

const server = exact<wire.ToolServerView>()(
  z.object({
    name: z.string(),
    target: described(z.string(), 'its command line or URL, without secrets'),
    kind: z.enum(['command', 'url']),
    file: described(z.string(), 'the settings file that names it'),
    removable: described(z.boolean(), "it is in the person's own file"),
    ask: described(z.enum(ASK_FOR), 'which calls are asked about where a person has set no rule'),
    state: z.enum(['connecting', 'ready', 'failed']),
    since: described(instant, 'when it got there'),
    reason: described(z.string(), 'why it failed').exactOptional(),
    tools: z.array(tool),
  }),
)

export const tools = exact<wire.ToolsAnswer>()(
  z
    .object({
      scope: described(z.enum(['server', 'node']), '`node`: other servers on the same database have their own'),
      servers: z.array(server),
      offered: described(z.int(), 'how many tools models get'),
      add: described(
        z.object({ command: z.string(), file: z.string(), folder: z.string() }),
        'the terminal command that adds one, the file that it writes, and a folder to suggest',
      ),
      problem: described(z.string(), 'why the settings file is not used as it is now').exactOptional(),
    })
    .meta({ id: 'Tools', description: 'The MCP servers and tools of the agent' }),
)

export const ruleChange = exact<wire.ToolRuleChange>()(
  z
    .strictObject({
      server: z.string().max(32),
      rule: described(z.enum(TOOL_RULES).nullable(), 'null: as the configuration has it'),
      tools: z
        .array(z.strictObject({ name: z.string().max(500), fingerprint: z.string().max(200).optional() }))
        .min(1)
        .max(MAX_TOOLS),
    })
    .meta({ id: 'ToolRules' }),
)

export const sentApproval = exact<wire.SentApproval>()(
  z
    .strictObject({
      decision: described(z.enum(APPROVAL_DECISIONS), '`always`: also the next calls, while the tool stays as it is'),
      comment: described(z.string(), 'for the agent').optional(),
    })
    .meta({ id: 'SentApproval' }),
)

export const approvalAnswer = exact<wire.ApprovalAnswer>()(
  z.object({
    approval_id: z.string(),
    decision: z.enum(APPROVAL_DECISIONS),
    not_saved: described(z.string(), 'why "always" counts for this call only').exactOptional(),
    seq: z.int(),
  }),
)
