import * as z from 'zod'
import type { Json, ToolCallRecord } from '../domain/event.ts'
import { type Policy, type PolicyPatch, type ToolsetName, TOOLSETS } from '../domain/policy.ts'
import type { Changes, DraftRow, ReviewRequest, Row, SubmittedRow } from '../domain/review.ts'
import { PRIORITIES, STATUSES, type Task } from '../domain/task.ts'
import type { Template } from '../domain/template.ts'
import type { CallAnswer, Message, MessageCall } from '../domain/transcript.ts'
import type { ErrorBody, Session, TurnView } from '../domain/wire.ts'
import { exact } from './exact.ts'

/** Marks a failed check of an id. */
export const INVALID_ID = 'invalid_id'

export const said = <S extends z.ZodType>(schema: S, description: string): S => schema.meta({ description })

export const id = said(
  z.string({ error: INVALID_ID }).regex(/^[A-Za-z0-9_-]{1,128}$/, { error: INVALID_ID }),
  '1 to 128 characters of A-Z a-z 0-9 _ -',
)

/** An id that the caller chooses: any text of one line. */
export const reference = z
  .string()
  .min(1)
  .max(200)
  .refine(text => text.isWellFormed() && !/\p{Cc}/u.test(text), { error: 'must be one line of well-formed text' })

export const limit = (most: number, usual: number): z.ZodType<number> =>
  z.coerce.number().int().min(1).max(most).default(usual)
export const cursor = z.string().max(1_000).optional()

export const json: z.ZodType<Json> = z.json().meta({ id: 'Json', description: 'Any JSON value' })
export const instant = z.iso.datetime()
export const seq = said(z.int(), 'place in the log, counted from 1')

const title = said(z.string(), 'one line of 1 to 400 characters')
const text = said(z.string(), 'up to 8,000 characters')
const messageOfHost = said(z.string(), "the message that led to it, by the host's own id").exactOptional()
const tags = said(z.array(z.string()), 'at most 20, each of up to 64 characters')
const priority = said(z.enum(PRIORITIES), 'how much it matters')
export const taskStatus = said(z.enum(STATUSES), 'how far it has got')
const rowStatus = said(z.enum(['todo', 'doing', 'blocked', 'done']), 'the status that the task begins with')
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
}
export const newTask = z.strictObject(personsFields).partial().required({ title: true }).meta({ id: 'NewTask' })
export const taskPatch = z.strictObject(personsFields).partial().meta({ id: 'TaskPatch' })

const rowFields = {
  title,
  details: said(text, 'what is to be done'),
  criteria: said(text, 'how to judge that it is done'),
  priority,
  status: rowStatus,
  tags,
}
const submittedRow = exact<SubmittedRow>()(
  z
    .strictObject({ ...rowFields, draft_index: said(z.int().min(0), 'the draft row that this one is, counted from 0') })
    .partial()
    .meta({ id: 'SubmittedRow' }),
)
const comment = said(text, 'for the agent').optional()
export const decision = z
  .discriminatedUnion('action', [
    z.strictObject({ action: z.literal('confirm'), tasks: z.array(submittedRow), comment }),
    z.strictObject({ action: z.literal('cancel'), reason: z.string().optional(), comment }),
  ])
  .meta({ id: 'Decision' })
export const templateBody = z.strictObject({ name: z.string().optional(), tasks: z.array(submittedRow) })

const policyFields = {
  toolset: said(toolset, 'the tools that the model gets'),
  review: said(z.boolean(), 'whether a person confirms new tasks first'),
  assessor: said(z.boolean(), 'whether a second model judges what is claimed to be done'),
  gate: said(z.boolean(), 'whether an answer with open tasks is followed up'),
  review_timeout_ms: said(z.int(), 'how long a review waits, 1 to 86,400,000'),
  panel_grace_ms: said(z.int(), 'how long a review waits after its last panel was closed'),
  max_steps: said(z.int(), 'model calls of a turn without open tasks'),
  max_steps_with_plan: said(z.int(), 'model calls of a turn at most'),
  max_advances: said(z.int(), 'tasks that follow one another in a turn of manage_todos'),
  history_limit: said(z.int(), 'messages of earlier turns that the model is given'),
}
export const policyPatch = exact<PolicyPatch>()(z.strictObject(policyFields).partial().meta({ id: 'PolicyPatch' }))
export const policy = exact<Policy>()(
  z.object(policyFields).meta({ id: 'Policy', description: 'The rules that a conversation works under' }),
)

export const task = exact<Task>()(
  z
    .object({
      id: said(z.string(), 'a UUIDv7'),
      number: said(z.int(), 'counted from 1 in its conversation'),
      session_id: said(z.string(), 'the conversation'),
      conversation_turn_id: said(z.string(), 'the turn that made it'),
      parent_id: said(z.string(), 'the task that it is a part of').exactOptional(),
      title,
      details: said(text, 'what is to be done'),
      criteria: said(text, 'how to judge that it is done'),
      agent_type: said(z.string(), 'the kind of agent that it is meant for').exactOptional(),
      priority,
      position: said(z.number(), 'orders the list; not a rank'),
      tags,
      status: taskStatus,
      outcome: said(text, 'what came of it').exactOptional(),
      judged_by: said(z.enum(['assessor', 'person']).nullable(), 'who settled it, other than the model itself'),
      created_by: said(z.enum(['tool', 'user', 'file']), 'a model, a person, or a JSON file'),
      source_user_message_id: messageOfHost,
      source_assistant_message_id: messageOfHost,
      file_id: said(z.string(), 'its id in a JSON file, where that is not its number').exactOptional(),
      version: said(z.int(), 'counts its changes; send it as If-Match'),
      created_at: said(instant, 'when it was created'),
      updated_at: said(instant, 'when it last changed'),
      started_at: said(instant, 'when it was first in progress').exactOptional(),
      completed_at: said(instant, 'when it was completed').exactOptional(),
      removed_at: said(instant, 'when it was removed from the list').exactOptional(),
    })
    .meta({ id: 'Task', description: 'A task as it is stored, sent and shown' }),
)

export const row = exact<Row>()(
  z.object(rowFields).meta({ id: 'Row', description: 'A task as a person sees and edits it in a review' }),
)
const draftRow = exact<DraftRow>()(
  z
    .object({
      ...rowFields,
      agent_type: said(z.string(), 'the kind of agent that it is meant for; not shown').exactOptional(),
      parent_id: said(z.string(), 'the task that it is a part of; not shown').exactOptional(),
      order: said(z.number(), 'where the model put it; not shown').exactOptional(),
    })
    .meta({ id: 'DraftRow', description: 'A row that a model proposed' }),
)
export const changes = exact<Changes>()(
  z
    .object({
      kept: said(z.array(row), 'confirmed as proposed'),
      edited: said(z.array(z.object({ from: row, to: row })), 'as proposed and as confirmed'),
      added: said(z.array(row), 'added by the person'),
      removed: said(z.array(row), 'not confirmed'),
      reordered: said(z.boolean(), 'whether the person changed the order'),
    })
    .meta({ id: 'Changes', description: 'What the person did to the draft, row by row' }),
)
export const template = exact<Template>()(
  z.object({ name: z.string(), tasks: z.array(row) }).meta({ id: 'Template', description: 'A saved batch of tasks' }),
)

export const reviewFields = {
  review_id: said(z.string(), 'a UUIDv7'),
  status: said(z.enum(['pending', 'confirmed', 'cancelled', 'expired']), '`pending` in the log'),
  session_id: said(z.string(), 'the conversation'),
  conversation_turn_id: said(z.string(), 'the turn that asked'),
  tool_call_id: said(z.string(), 'the tool call that asked'),
  draft_tasks: said(z.array(draftRow), 'the proposed tasks'),
  timeout_ms: said(z.int(), 'how long it waits for a decision'),
  expires_at: said(instant, 'when it is cancelled by itself'),
  source_user_message_id: messageOfHost,
  source_assistant_message_id: messageOfHost,
  toolset: said(toolset, 'the toolset that asked; older logs lack it').exactOptional(),
  tool: said(z.string(), 'the tool that asked; older logs lack it').exactOptional(),
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
      updated_at: instant,
    })
    .meta({ id: 'Session' }),
)

const turnStatus = said(z.enum(['open', 'running', 'done', 'incomplete', 'failed', 'stopped']), 'how the turn stands')
export const turnFields = {
  status: turnStatus,
  stop_requested: z.boolean(),
  started_at: instant,
  removed: said(z.int(), 'the number of tasks that were removed from its plan'),
}
export const turn = exact<TurnView>()(
  z
    .object({
      turn_id: z.string(),
      ...turnFields,
      parked: said(z.boolean(), "waits for a person's decision"),
      adopted: said(z.array(z.string()), 'tasks of earlier turns that its plan has taken over'),
      limit_reached: said(z.literal(true), 'a limit ended it').exactOptional(),
    })
    .meta({ id: 'Turn' }),
)

const toolCallFields = {
  tool_call_id: said(z.string(), 'unique in its turn'),
  tool: said(z.string(), 'the name of the tool'),
  arguments: said(json, 'what the model passed'),
  problem: said(z.string(), 'why the call could not be made').exactOptional(),
}
export const toolCall = exact<ToolCallRecord>()(
  z.object(toolCallFields).meta({ id: 'ToolCall', description: 'A tool call as the model made it' }),
)
const callAnswer = exact<CallAnswer>()(
  z.object({
    ok: z.boolean(),
    duration_ms: z.number(),
    result: json,
    is_cut: said(z.literal(true), '`result` is the start of a longer text').exactOptional(),
    seq: said(z.int(), 'the event that has the whole result'),
  }),
)
const messageCall = exact<MessageCall>()(z.object({ ...toolCallFields, answer: callAnswer.exactOptional() }))
export const role = said(z.enum(['user', 'assistant', 'system']), 'who says it')
export const message = exact<Message>()(
  z
    .object({
      message_id: z.string(),
      turn_id: z.string().nullable(),
      role,
      text: z.string(),
      synthetic: said(z.boolean(), 'written by the server, not by a person').exactOptional(),
      tool_calls: z.array(messageCall).exactOptional(),
      created_at: instant,
    })
    .meta({ id: 'Message' }),
)

export const errorBody = z
  .object({
    error: exact<ErrorBody>()(
      z.looseObject({
        code: z.string(),
        message: z.string(),
        row: said(z.int(), 'the row of the batch, counted from 0').exactOptional(),
        field: z.string().exactOptional(),
        task: said(task, 'the task as it is now').exactOptional(),
      }),
    ),
  })
  .meta({ id: 'Error' })
