import { ID_PATTERN } from '../domain/text.ts'
import * as z from 'zod'
import type { Workspace } from '../domain/check.ts'
import type { Json, ToolCallRecord } from '../domain/event.ts'
import { type Policy, type PolicyPatch, type ToolsetName, TOOLSETS } from '../domain/policy.ts'
import type { QueuedMessage } from '../domain/queue.ts'
import type { Changes, DraftRow, ReviewRequest, Row, RowComment } from '../domain/review.ts'
import { SESSION_MARKS } from '../domain/session-list.ts'
import { PRIORITIES, STATUSES, type Task } from '../domain/task.ts'
import type { Template } from '../domain/template.ts'
import type { ToolApproval } from '../domain/tool-approval.ts'
import type { CallAnswer, Message, MessageCall } from '../domain/transcript.ts'
import type { ErrorBody, SentEvidence, SentRow, Session, TaskView, TurnView } from '../domain/wire.ts'
import { approve, checkView, sentChecks, standings, storedChecks } from './check-schemas.ts'
import { described } from './described.ts'
import { exact } from './exact.ts'

export { described }

/** The message of a failed id check, by which a parser recognises it. */
export const INVALID_ID = 'invalid_id'

export const id = described(
  z.string({ error: INVALID_ID }).regex(ID_PATTERN, { error: INVALID_ID }),
  '1 to 128 characters of A-Z a-z 0-9 _ -',
)

/** An id of the caller's own: any text of one line. */
export const reference = z
  .string()
  .min(1)
  .max(200)
  .refine(text => text.isWellFormed() && !/\p{Cc}/u.test(text), { error: 'one line of well-formed text' })

export const limit = (most: number, usual: number): z.ZodType<number> =>
  z.coerce.number().int().min(1).max(most).default(usual)
export const cursor = z.string().max(1_000).optional()
/** What a list is searched for. */
export const searchedText = z
  .string()
  .min(1)
  .max(400)
  .refine(text => text.isWellFormed() && !/\p{Cc}/u.test(text), { error: 'one line of well-formed text' })

export const json: z.ZodType<Json> = z.json().meta({ id: 'Json', description: 'Any JSON value' })
export const instant = z.iso.datetime()
export const seq = described(z.int(), 'position in the log, from 1')

const title = described(z.string(), 'one line of 1 to 400 characters')
const text = described(z.string(), 'up to 8,000 characters')
const messageOfHost = described(z.string(), "the host's id of the message that led to it").exactOptional()
const tags = described(z.array(z.string()), 'at most 20, each of up to 64 characters')
const priority = described(z.enum(PRIORITIES), 'its importance')
export const taskStatus = described(z.enum(STATUSES), 'its progress')
const rowStatus = described(z.enum(['todo', 'doing', 'blocked', 'done']), 'the status that the task starts with')
export const toolset = z.enum(Object.keys(TOOLSETS) as ToolsetName[])

/** The fields of a task that a person may set. */
const personsFields = {
  title,
  details: text,
  criteria: text,
  priority,
  tags,
  status: taskStatus,
  outcome: text,
  position: z.number(),
  ...sentChecks,
}
export const newTask = z.strictObject(personsFields).partial().required({ title: true }).meta({ id: 'NewTask' })
export const taskPatch = z
  .strictObject({ ...personsFields, approve })
  .partial()
  .meta({ id: 'TaskPatch' })

/** Of a tool call. */
export const toolFact = {
  tool: described(z.string(), 'the name of the tool'),
  arguments: described(json, 'what it was given'),
  answer: described(json, 'what it answered'),
  ok: described(z.boolean(), 'whether the call succeeded'),
}
export const sentEvidence = exact<SentEvidence>()(
  z
    .strictObject({
      tool: described(toolFact.tool, 'the name of the tool, one line of 1 to 200 characters'),
      arguments: toolFact.arguments.optional(),
      answer: toolFact.answer.optional(),
      ok: toolFact.ok,
      task_id: described(id, 'default: the task in progress').optional(),
    })
    .meta({ id: 'SentEvidence', description: 'A call of a tool of its own that an agent reports' }),
)

const rowFields = {
  title,
  details: described(text, 'what to do'),
  criteria: described(text, 'how to tell that it is done'),
  priority,
  status: rowStatus,
  tags,
}
const sentRow = exact<SentRow>()(
  z
    .strictObject({
      ...rowFields,
      ...sentChecks,
      approve,
      draft_index: described(z.int().min(0).nullable(), 'the index of its draft row, from 0; null: it is new'),
      agent_type: described(z.string(), 'accepted and ignored: it is as in the draft'),
      parent_id: described(z.string(), 'accepted and ignored: it is as in the draft'),
      order: described(z.number(), 'accepted and ignored: it is as in the draft'),
      allowed: described(z.array(z.string()), 'accepted and ignored: it is as in the draft'),
    })
    .partial()
    .meta({ id: 'SubmittedRow' }),
)
/** What a person said about a row of a draft. */
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
export const policy = exact<Policy>()(
  z.object(policyFields).meta({ id: 'Policy', description: 'The rules of a conversation' }),
)

const taskFields = {
  id: described(z.string(), 'a UUIDv7'),
  number: described(z.int(), 'its number in the conversation, from 1'),
  session_id: described(z.string(), 'the conversation'),
  conversation_turn_id: described(z.string(), 'the turn that created it'),
  plan_id: described(z.string(), 'the plan that it belongs to: the id of the turn that began it'),
  parent_id: described(z.string(), 'its parent task').exactOptional(),
  title,
  details: described(text, 'what to do'),
  criteria: described(text, 'how to tell that it is done'),
  agent_type: described(z.string(), 'the kind of agent it is for').exactOptional(),
  priority,
  position: described(z.number(), 'sorts the list; not a rank'),
  tags,
  status: taskStatus,
  outcome: described(text, 'the result').exactOptional(),
  judged_by: described(z.enum(['assessor', 'person']).nullable(), 'who settled it, if not the model'),
  created_by: described(z.enum(['tool', 'user', 'file']), 'a model, a person, or a JSON file'),
  source_user_message_id: messageOfHost,
  source_assistant_message_id: messageOfHost,
  file_id: described(z.string(), 'its id in a JSON file, if not its number').exactOptional(),
  version: described(z.int(), 'increases with each change; send it as If-Match'),
  created_at: described(instant, 'when it was created'),
  updated_at: described(instant, 'when it last changed'),
  started_at: described(instant, 'when it was first in progress').exactOptional(),
  completed_at: described(instant, 'when it was completed').exactOptional(),
  removed_at: described(instant, 'when it was removed from the list').exactOptional(),
  may_change: storedChecks.may_change,
}
export const task = exact<Task>()(
  z.object({ ...taskFields, ...storedChecks }).meta({ id: 'Task', description: 'A task as it is stored' }),
)
/** A task as answers show it. */
export const taskView = exact<TaskView>()(
  z
    .object({
      ...taskFields,
      checks: described(z.array(checkView), 'how to see whether it is done').exactOptional(),
      standing: described(
        z.enum(['proven', 'confirmed', 'judged', 'reported']),
        'of a completed task: a check proves it, a person settled it, the assessor accepted it, or it is the word of the model',
      ).exactOptional(),
      standing_reasons: described(z.array(z.string()), 'why it stands so, for people').exactOptional(),
    })
    .meta({ id: 'TaskView', description: 'A task, how its checks stand, and how far its completion can be trusted' }),
)

export const row = exact<Row>()(
  z
    .object({ ...rowFields, ...storedChecks })
    .meta({ id: 'Row', description: 'A task as a person sees and edits it in a review' }),
)
const draftRow = exact<DraftRow>()(
  z
    .object({
      ...rowFields,
      agent_type: described(z.string(), 'the kind of agent it is for; not shown').exactOptional(),
      parent_id: described(z.string(), 'its parent task; not shown').exactOptional(),
      order: described(z.number(), 'where the model put it; not shown').exactOptional(),
      ...storedChecks,
      allowed: described(z.array(z.string()), 'the hashes of its checks that the configuration allows').exactOptional(),
    })
    .meta({ id: 'DraftRow', description: 'A row that a model proposed' }),
)
export const changes = exact<Changes>()(
  z
    .object({
      kept: described(z.array(row), 'confirmed as proposed'),
      edited: described(z.array(z.object({ from: row, to: row })), 'as proposed and as confirmed'),
      added: described(z.array(row), 'added by the person'),
      removed: described(z.array(row), 'not confirmed'),
      reordered: described(z.boolean(), 'whether the person changed the order'),
    })
    .meta({ id: 'Changes', description: 'What the person did to the draft, row by row' }),
)
export const rowComments = z.array(
  exact<RowComment>()(
    z
      .object({ ...rowComment, title: described(title, 'the title that was proposed') })
      .meta({ id: 'RowComment', description: 'What the person said about a row of the draft' }),
  ),
)
export const template = exact<Template>()(
  z.object({ name: z.string(), tasks: z.array(row) }).meta({ id: 'Template', description: 'A saved list of tasks' }),
)

export const reviewFields = {
  review_id: described(z.string(), 'a UUIDv7'),
  status: described(z.enum(['pending', 'confirmed', 'cancelled', 'expired']), '`pending` in the log'),
  session_id: described(z.string(), 'the conversation'),
  conversation_turn_id: described(z.string(), 'the turn that asked'),
  tool_call_id: described(z.string(), 'the tool call that asked; a reopened review has its own id here'),
  draft_tasks: described(z.array(draftRow), 'the proposed tasks'),
  timeout_ms: described(z.int().nullable(), 'how long it waits for a decision; null: until it is decided'),
  expires_at: described(instant.nullable(), 'when it is cancelled without a decision; null: never'),
  source_user_message_id: messageOfHost,
  source_assistant_message_id: messageOfHost,
  toolset: described(toolset, 'the toolset that asked'),
  tool: described(z.string(), 'the tool that asked'),
  commands: described(z.array(z.string()), 'commands of the workspace that a check may be picked from').exactOptional(),
  unchecked: described(z.literal(true), 'the model sent checks, left out for want of a workspace').exactOptional(),
  reopens: described(z.string(), 'the review that a person opened again as this one').exactOptional(),
  revises: described(z.string(), 'the review of the same turn that was sent back before this one').exactOptional(),
}
export const review = exact<ReviewRequest>()(
  z.object(reviewFields).meta({ id: 'Review', description: 'A proposal that a person confirms or cancels' }),
)

export const session = exact<Session>()(
  z
    .object({
      session_id: z.string(),
      title: z.string().nullable(),
      seq: z.int(),
      created_at: instant,
      updated_at: described(instant, 'when its log last grew'),
      active_at: described(
        instant,
        'when something was last done in it; to name, pin or archive it does not count, nor does looking at it',
      ),
      pinned: z.boolean(),
      archived: z.boolean(),
      mark: described(
        z.enum(SESSION_MARKS).nullable(),
        'a review waits, a turn of this server runs, or the latest turn failed',
      ),
    })
    .meta({ id: 'Session' }),
)

const turnStatus = described(
  z.enum(['open', 'running', 'done', 'incomplete', 'failed', 'stopped']),
  'the state of the turn',
)
export const workspace = described(
  exact<Workspace>()(
    z.object({
      machine: described(z.string(), 'the id of the machine'),
      path: described(z.string(), 'the folder'),
    }),
  ),
  'where its checks run',
)
export const planCounts = z.object({
  completed: z.int(),
  blocked: z.int(),
  cancelled: z.int(),
  removed: z.int(),
  open: z.int(),
})
export const turnFields = {
  status: turnStatus,
  stop_requested: z.boolean(),
  started_at: instant,
  plan_id: described(z.string(), 'the plan that it works on: the id of the turn that began it'),
  workspace: workspace.exactOptional(),
}
export const turn = exact<TurnView>()(
  z
    .object({
      turn_id: z.string(),
      ...turnFields,
      parked: described(z.boolean(), "waits for a person's decision"),
      standings: described(standings, 'the completed tasks of its plan by standing, if there are any').exactOptional(),
      limit_reached: described(z.literal(true), 'a limit ended it').exactOptional(),
    })
    .meta({ id: 'Turn' }),
)

const toolCallFields = {
  tool_call_id: described(z.string(), 'unique in its turn'),
  tool: described(z.string(), 'the name of the tool'),
  arguments: described(json, 'what the model passed'),
  problem: described(z.string(), 'why the call could not be made').exactOptional(),
}
export const toolCall = exact<ToolCallRecord>()(
  z.object(toolCallFields).meta({ id: 'ToolCall', description: 'A tool call as the model made it' }),
)
const callAnswer = exact<CallAnswer>()(
  z.object({
    ok: z.boolean(),
    duration_ms: z.number(),
    result: json,
    is_cut: described(z.literal(true), '`result` is only the start').exactOptional(),
    seq: described(z.int(), 'the event that has the whole result'),
  }),
)
const messageCall = exact<MessageCall>()(
  z.object({
    ...toolCallFields,
    answer: callAnswer.exactOptional(),
    approval: described(
      z.enum(['waiting', 'allow', 'always', 'deny']),
      'it waits for a person, or what a person said; absent if none was asked',
    ).exactOptional(),
    approval_id: z.string().exactOptional(),
    unanswered: described(z.literal(true), 'its turn ended without an answer: its outcome is unknown').exactOptional(),
  }),
)
export const role = described(z.enum(['user', 'assistant', 'system']), 'the author')
export const cut = described(
  z.enum(['too_long', 'output_limit', 'content_filter']),
  "why the answer is not whole: it has over 1 MB, the model's own limit, or the provider's filter",
)
export const message = exact<Message>()(
  z
    .object({
      message_id: z.string(),
      turn_id: z.string().nullable(),
      role,
      text: z.string(),
      synthetic: described(z.boolean(), 'written by the server, not by a person').exactOptional(),
      answer_length: described(
        z.int(),
        'how much of the text the agent wrote; the rest says that it was cut, or how the turn ended',
      ).exactOptional(),
      cut: cut.exactOptional(),
      tool_calls: z.array(messageCall).exactOptional(),
      created_at: instant,
    })
    .meta({ id: 'Message' }),
)

export const queuedMessage = exact<QueuedMessage>()(
  z
    .object({
      message_id: z.string(),
      text: z.string(),
      version: described(z.int(), 'increases with each edit; send it as If-Match'),
      queued_at: instant,
    })
    .meta({ id: 'QueuedMessage', description: 'A message to the agent at work that it does not have yet' }),
)
/** A call that waits for a person, without when it was asked. */
export const approvalFields = {
  approval_id: described(z.string(), 'the approval'),
  tool_call_id: described(z.string(), 'the call, unique in its turn'),
  tool: described(z.string(), 'the name of the tool, as the model calls it'),
  arguments: described(json, 'what the model passes'),
  server: described(z.string(), 'the MCP server; absent for tools of a program').exactOptional(),
  server_tool: described(z.string(), 'the tool, as its server calls it').exactOptional(),
  fingerprint: described(
    z.string(),
    'what "always" is bound to: the tool as it is described, and its server',
  ).exactOptional(),
  read_only: described(z.literal(true), 'the server says that the tool changes nothing').exactOptional(),
  changed: described(
    z.enum(['tool', 'server']),
    'it was always allowed; since then the tool, or its server, has changed',
  ).exactOptional(),
}
export const toolApproval = exact<ToolApproval>()(
  z
    .object({ ...approvalFields, turn_id: z.string(), asked_at: instant })
    .meta({ id: 'ToolApproval', description: 'A call of a tool that waits for a person' }),
)
/** A message to the agent at work. */
export const sentMessage = z.strictObject({ text: described(z.string(), '1 to 32,000 characters') })

export const errorBody = z
  .object({
    error: exact<ErrorBody>()(
      z.looseObject({
        code: z.string(),
        message: z.string(),
        row: described(z.int(), 'the row of the batch, from 0').exactOptional(),
        field: z.string().exactOptional(),
        task: described(task, 'the task as it is now').exactOptional(),
        queued: described(queuedMessage, 'the queued message as it is now').exactOptional(),
        file: described(z.string(), 'the task file at fault, as a path within the data folder').exactOptional(),
      }),
    ),
  })
  .meta({ id: 'Error' })
