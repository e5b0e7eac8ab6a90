import * as z from 'zod'
import type { Json } from '../../core/model/event.ts'
import { TOOLSETS, type PolicyPatch, type ToolsetName } from '../../core/model/policy.ts'
import { FIELDS, FIELD_NAMES, FIELD_WORDS, type FieldKind, type RowField } from '../../core/model/row.ts'
import { STATUSES } from '../../core/model/task.ts'
import { ID_PATTERN } from '../../core/model/text.ts'
import { APPROVAL_DECISIONS, TOOL_RULES } from '../../core/model/tool-approval.ts'
import type {
  PersonsFields,
  SentApproval,
  SentCheck,
  SentEvidence,
  SentRow,
  SettingName,
  SettingsChange,
  ToolRuleChange,
} from '../../core/views/wire.ts'
import { exact } from './openapi.ts'

export const described = <S extends z.ZodType>(schema: S, description: string): S => schema.meta({ description })

/** The message of a failed id check; parsers recognize it. */
export const INVALID_ID = 'invalid_id'

export const id = described(
  z.string({ error: INVALID_ID }).regex(ID_PATTERN, { error: INVALID_ID }),
  '1 to 128 characters of A-Z a-z 0-9 _ -',
)

export const reference = z
  .string()
  .min(1)
  .max(200)
  .refine(text => text.isWellFormed() && !/\p{Cc}/u.test(text), { error: 'one line of well-formed text' })

export const limit = (most: number, usual: number): z.ZodType<number> =>
  z.coerce.number().int().min(1).max(most).default(usual)
export const cursor = z.string().max(1_000).optional()
export const searchedText = z
  .string()
  .min(1)
  .max(400)
  .refine(text => text.isWellFormed() && !/\p{Cc}/u.test(text), { error: 'one line of well-formed text' })

export const json: z.ZodType<Json> = z.json().meta({ id: 'Json', description: 'Any JSON value' })

const text = described(z.string(), 'up to 8,000 characters')
export const taskStatus = described(z.enum(STATUSES), 'its progress')
export const toolset = z.enum(Object.keys(TOOLSETS) as ToolsetName[])

const hidden = described(
  z.literal(true),
  'held out: an agent learns that it exists and whether it failed, never its content or output',
).exactOptional()
const kinds = {
  command: {
    kind: z.literal('command'),
    run: described(
      z.union([z.array(z.string()), z.string()]),
      'a program and its arguments, or one command line, which is split without a shell',
    ),
    cwd: described(z.string(), 'a folder inside the workspace; default its root').exactOptional(),
    exit: described(z.int(), 'the exit code that passes; default 0').exactOptional(),
    contains: described(z.string(), 'what its output must contain').exactOptional(),
    timeout_ms: described(z.int(), 'at most 3,600,000; default 300,000').exactOptional(),
    hidden,
  },
  file: {
    kind: z.literal('file'),
    path: described(z.string(), 'a file inside the workspace, which must exist and not be empty'),
    contains: described(z.string(), 'what it must contain').exactOptional(),
    absent: described(z.literal(true), 'it must not exist').exactOptional(),
    hidden,
  },
  unchanged: {
    kind: z.literal('unchanged'),
    paths: described(z.array(z.string()), 'globs of files that must be as they were at confirmation'),
    hidden,
  },
  person: { kind: z.literal('person'), ask: described(z.string(), 'what a person is to look at') },
} as const

/** Accepted and ignored, so that clients can send a check back unchanged. */
const asRead = {
  id: described(z.string(), 'a UUIDv7').exactOptional(),
  hash: described(z.string(), 'as it was read; a new check has none').exactOptional(),
  programs: described(
    z.array(z.object({ path: z.string(), file: z.string() }).nullable()),
    'the programs that the hash covers, the wrapper first; null: not found, or named by a path',
  ).exactOptional(),
  workspace: described(
    z.object({ machine: z.string(), path: z.string() }),
    'where it runs, if a person wrote it again for another folder than that of its turn',
  ).exactOptional(),
  approved: described(
    z.boolean(),
    'whether it runs: a person, or the configuration, approved exactly this',
  ).exactOptional(),
  state: described(
    z.enum(['waiting', 'running', 'passed', 'failed', 'inconclusive', 'stale']),
    'how it stands now; `stale`: it passed before the workspace changed',
  ).exactOptional(),
  baseline: described(
    z.enum(['failed', 'passed', 'not_run']),
    'how it stood when the plan was confirmed',
  ).exactOptional(),
  changes: described(
    z.array(
      z.object({
        path: z.string(),
        is: z.enum(['outside', 'protected', 'own', 'git']),
        hash: z.string().exactOptional(),
        files: z.int().exactOptional(),
      }),
    ),
    'files that changed outside its scope: it proves nothing until a person accepts them',
  ).exactOptional(),
}
const sentCheck = exact<SentCheck>()(
  z
    .discriminatedUnion('kind', [
      z.strictObject({ ...kinds.command, ...asRead }),
      z.strictObject({ ...kinds.file, ...asRead }),
      z.strictObject({ ...kinds.unchanged, ...asRead }),
      z.strictObject({ ...kinds.person, ...asRead }),
    ])
    .meta({ id: 'SentCheck', description: 'A new check, or one as it was read' }),
)

const KINDS: { readonly [K in FieldKind]: (name: RowField) => z.ZodType } = {
  line: () => z.string(),
  text: () => z.string(),
  choice: name => z.enum([...(FIELD_WORDS[name].values ?? [])]),
  list: () => z.array(z.string()),
  globs: () => z.array(z.string()),
  checks: () => z.array(sentCheck),
}
const rowFields = {
  ...(Object.fromEntries(
    FIELD_NAMES.map(name => [name, described(KINDS[FIELDS[name].kind](name), FIELD_WORDS[name].about)]),
  ) as { readonly [K in RowField]-?: z.ZodType<NonNullable<SentRow[K]>> }),
  check: described(z.string(), 'short for one command in `checks`: its command line, without a shell'),
}
const approve = described(z.array(z.string()), 'the hashes of checks that the person approves')

const personsFields = { ...rowFields, status: taskStatus, outcome: text, position: z.number() }
export const newTask = z.strictObject(personsFields).partial().required({ title: true }).meta({ id: 'NewTask' })
export const taskPatch = exact<PersonsFields>()(
  z
    .strictObject({ ...personsFields, approve })
    .partial()
    .meta({ id: 'TaskPatch' }),
)

export const sentEvidence = exact<SentEvidence>()(
  z
    .strictObject({
      tool: described(z.string(), 'the name of the tool, one line of 1 to 200 characters'),
      arguments: described(json, 'what it was given').optional(),
      answer: described(json, 'what it answered').optional(),
      ok: described(z.boolean(), 'whether the call succeeded'),
      task_id: described(id, 'default: the task in progress').optional(),
    })
    .meta({ id: 'SentEvidence', description: 'A call of a tool of its own that an agent reports' }),
)

export const sentRow = exact<SentRow>()(
  z
    .strictObject({
      ...rowFields,
      approve,
      draft_index: described(z.int().min(0).nullable(), 'the index of its draft row, from 0; null: it is new'),
      agent_type: described(z.string(), 'accepted and ignored: it is as in the draft'),
      parent_id: described(z.string(), 'accepted and ignored: it is as in the draft'),
      order: described(z.number(), 'accepted and ignored: it is as in the draft'),
      allowed: described(z.array(z.string()), 'accepted and ignored: it is as in the draft'),
      asks_scope: described(z.array(z.string()), 'accepted and ignored: `scope` alone counts'),
    })
    .partial()
    .meta({ id: 'SubmittedRow' }),
)
const rowComment = {
  draft_index: described(z.int().min(0), 'the index of the draft row, from 0'),
  comment: described(text, 'for the agent, about this row'),
}
const said = {
  comment: described(text, 'for the agent').optional(),
  row_comments: described(z.array(z.strictObject(rowComment)), 'about rows of the draft, confirmed or not').optional(),
}
export const decision = z
  .discriminatedUnion('action', [
    z.strictObject({ action: z.literal('confirm'), tasks: z.array(sentRow), ...said }),
    z.strictObject({
      action: z.literal('cancel'),
      reason: z.string().optional(),
      held_ms: described(
        z.number(),
        'milliseconds since the person decided, in which it could be undone; up to a minute',
      ).optional(),
      ...said,
    }),
    z.strictObject({
      action: z.literal('revise'),
      ...said,
      comment: described(text, 'what the agent is to change; needed without row comments').optional(),
      tasks: described(z.array(sentRow), 'the rows as edited; nothing is written').optional(),
    }),
  ])
  .meta({ id: 'Decision' })
export const extension = z
  .strictObject({
    ms: described(z.number(), 'how long it waits from now, up to 30 days; by default as long as it had at first'),
  })
  .partial()
  .meta({ id: 'Extension' })
export const filing = z
  .strictObject({
    title: described(z.string(), 'its name, one line of 1 to 120 characters'),
    pinned: described(z.boolean(), 'whether it comes first in lists'),
    archived: described(z.boolean(), 'whether lists leave it out'),
  })
  .partial()
  .meta({ id: 'Filing' })
export const insistence = z
  .strictObject({ comment: described(text, 'for the agent').optional() })
  .meta({ id: 'Insistence' })
export const undoneVersion = z
  .strictObject({ version: described(z.int(), 'the version that the change led to') })
  .meta({ id: 'UndoneVersion' })
export const templateName = z.strictObject({ name: described(z.string(), '1 to 64 characters') })
export const templateBody = z.strictObject({ name: z.string().optional(), tasks: z.array(sentRow) })

const policyFields = {
  toolset: described(toolset, 'the tools of the model'),
  review: described(z.boolean(), 'whether a person confirms new tasks first'),
  assessor: described(z.boolean(), 'whether a second model judges finished work'),
  gate: described(z.boolean(), 'whether the model is sent back to open tasks'),
  review_timeout_ms: described(
    z.int().nullable(),
    'how long a review waits, 1 to 2,592,000,000; null: until it is decided',
  ),
  panel_grace_ms: described(
    z.int().nullable(),
    'how long a review waits once its last panel has closed; null: until it is decided',
  ),
  max_steps: described(z.int(), 'most model calls of a turn without open tasks'),
  max_steps_with_plan: described(z.int(), 'most model calls of a turn with open tasks'),
  max_advances: described(z.int(), 'most tasks that a turn of manage_todos hands over'),
  history_limit: described(z.int(), 'messages of earlier turns that the model sees'),
}
export const policyPatch = exact<PolicyPatch>()(z.strictObject(policyFields).partial().meta({ id: 'PolicyPatch' }))

export const sentMessage = z.strictObject({ text: described(z.string(), '1 to 32,000 characters') })

const SETTINGS = ['model', 'base_url', 'key', 'assessor_model', 'review', 'review_timeout_ms', 'gate'] as const
const settingName = exact<SettingName>()(z.enum(SETTINGS))

const MODEL = 'demo, openai:NAME, anthropic:NAME, google:NAME or openai-compatible:NAME'

export const settingsChange = exact<SettingsChange>()(
  z
    .strictObject({
      model: described(z.string(), MODEL),
      base_url: described(z.string(), 'an http or https URL; another one erases the key'),
      key: described(z.string(), '8 to 500 characters; kept on the server, in a file for its owner only'),
      assessor_model: described(z.string(), MODEL),
      review: z.boolean(),
      review_timeout_ms: z.int().nullable(),
      gate: z.boolean(),
      unset: described(z.array(settingName), 'what the page no longer sets'),
    })
    .partial()
    .meta({ id: 'SettingsChange' }),
)

export const triedModel = z.strictObject({ which: z.enum(['model', 'assessor_model']).default('model') })

const MAX_TOOLS = 500

export const ruleChange = exact<ToolRuleChange>()(
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

export const sentApproval = exact<SentApproval>()(
  z
    .strictObject({
      decision: described(z.enum(APPROVAL_DECISIONS), '`always`: also the next calls, while the tool stays as it is'),
      comment: described(z.string(), 'for the agent').optional(),
    })
    .meta({ id: 'SentApproval' }),
)
