import * as z from 'zod'
import type { Json, StoredEvent } from '../domain/event.ts'
import { TOOLSETS, type Policy, type PolicyPatch, type Toolset } from '../domain/policy.ts'
import type { Changes, ReviewRequest, Row, SubmittedRow } from '../domain/review.ts'
import { PRIORITIES, STATUSES, type Priority, type Task, type TaskStatus } from '../domain/task.ts'
import type { Message } from '../domain/transcript.ts'
import type { ErrorBody, Session, TurnView } from '../domain/wire.ts'

/** The marks by which a failed check is known for what it is. */
export const INVALID_ID = 'invalid_id'

const oneOf = <T extends string>(values: readonly T[]): z.ZodType<T> => z.enum(values as readonly [T, ...T[]])

export const id = z
  .string({ error: INVALID_ID })
  .regex(/^[A-Za-z0-9_-]{1,128}$/, { error: INVALID_ID })
  .meta({ description: '1 to 128 characters of A-Z a-z 0-9 _ -' })

/** An id that somebody else draws: any text of one line. */
export const reference = z
  .string()
  .min(1)
  .max(200)
  .refine(text => text.isWellFormed() && !/\p{Cc}/u.test(text), { error: 'must be one line of well-formed text' })

export const limit = (most: number, usual: number): z.ZodType<number> =>
  z.coerce.number().int().min(1).max(most).default(usual)
export const cursor = z.string().max(1_000).optional()

const instant = z.iso.datetime()
const json = z.json() as z.ZodType<Json>
const title = z.string().meta({ description: 'one line of 1 to 400 characters' })
const text = z.string().meta({ description: 'up to 8,000 characters' })
const tags = z.array(z.string()).meta({ description: 'at most 20 of 64 characters' })
const priority = oneOf<Priority>(PRIORITIES)
const status = oneOf<TaskStatus>(STATUSES)
const rowStatus = z.enum(['todo', 'doing', 'blocked', 'done'])
export const toolset = oneOf<Toolset>(Object.keys(TOOLSETS) as Toolset[])
export const taskStatus = status

/** What a person may say of a task. */
const taskFields = { title, details: text, criteria: text, priority, tags, status, outcome: text, position: z.number() }
export const newTask = z.strictObject(taskFields).partial().required({ title: true }).meta({ id: 'NewTask' })
export const taskPatch = z.strictObject(taskFields).partial().meta({ id: 'TaskPatch' })

const submittedRow: z.ZodType<SubmittedRow> = z
  .strictObject({
    title,
    details: text,
    criteria: text,
    priority,
    status: rowStatus,
    tags,
    draft_index: z.int().min(0).meta({ description: 'the row of the draft that this one is, counted from 0' }),
  })
  .partial()
  .meta({ id: 'SubmittedRow' })
const comment = text.optional().meta({ description: 'for the agent' })
export const decision = z
  .discriminatedUnion('action', [
    z.strictObject({ action: z.literal('confirm'), tasks: z.array(submittedRow), comment }),
    z.strictObject({ action: z.literal('cancel'), reason: z.string().optional(), comment }),
  ])
  .meta({ id: 'Decision' })
export const templateBody = z.strictObject({ name: z.string().optional(), tasks: z.array(submittedRow) })

const limits = {
  review_timeout_ms: z.int().meta({ description: '1 to 86,400,000' }),
  panel_grace_ms: z.int(),
  max_steps: z.int(),
  max_steps_with_plan: z.int(),
  max_advances: z.int(),
  history_limit: z.int(),
}
const policyFields = { toolset, review: z.boolean(), assessor: z.boolean(), gate: z.boolean(), ...limits }
export const policyPatch: z.ZodType<PolicyPatch> = z.strictObject(policyFields).partial().meta({ id: 'PolicyPatch' })
export const policy: z.ZodType<Policy> = z.object(policyFields).meta({ id: 'Policy' })

export const task: z.ZodType<Task> = z
  .object({
    id: z.string(),
    number: z.int(),
    session_id: z.string(),
    conversation_turn_id: z.string(),
    parent_id: z.string().optional(),
    title,
    details: text,
    criteria: text.meta({ description: 'how to judge that it is done' }),
    agent_type: z.string().optional(),
    priority,
    position: z.number().meta({ description: 'orders the list; not a rank' }),
    tags,
    status,
    outcome: text.optional(),
    judged_by: z.enum(['assessor', 'person']).nullable(),
    created_by: z.enum(['tool', 'user', 'file']),
    source_user_message_id: z.string().optional(),
    source_assistant_message_id: z.string().optional(),
    file_id: z.string().optional(),
    version: z.int(),
    created_at: instant,
    updated_at: instant,
    started_at: instant.optional(),
    completed_at: instant.optional(),
    removed_at: instant.optional(),
  })
  .meta({ id: 'Task' }) as unknown as z.ZodType<Task>

const rowFields = { title, details: text, criteria: text, priority, status: rowStatus, tags }
export const row: z.ZodType<Row> = z.object(rowFields).meta({ id: 'Row' })
export const changes: z.ZodType<Changes> = z
  .object({
    kept: z.array(row),
    edited: z.array(z.object({ from: row, to: row })),
    added: z.array(row),
    removed: z.array(row),
    reordered: z.boolean(),
  })
  .meta({ id: 'Changes' })

export const review: z.ZodType<ReviewRequest> = z
  .object({
    review_id: z.string(),
    status: z.enum(['pending', 'confirmed', 'cancelled', 'expired']),
    session_id: z.string(),
    conversation_turn_id: z.string(),
    tool_call_id: z.string(),
    draft_tasks: z.array(
      z.object({
        ...rowFields,
        agent_type: z.string().optional(),
        parent_id: z.string().optional(),
        order: z.number().optional(),
      }),
    ),
    timeout_ms: z.int(),
    expires_at: instant,
    source_user_message_id: z.string().optional(),
    source_assistant_message_id: z.string().optional(),
  })
  .meta({ id: 'Review' }) as unknown as z.ZodType<ReviewRequest>

export const session: z.ZodType<Session> = z
  .object({
    session_id: z.string(),
    title: z.string().nullable(),
    seq: z.int(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Session' })

export const turn: z.ZodType<TurnView> = z
  .object({
    turn_id: z.string(),
    status: z.enum(['open', 'running', 'done', 'incomplete', 'failed', 'stopped']),
    stop_requested: z.boolean(),
    parked: z.boolean().meta({ description: "waits for a person's decision" }),
    started_at: instant,
    adopted: z.array(z.string()),
    removed: z.int(),
    limit_reached: z.literal(true).exactOptional().meta({ description: 'a limit ended it' }),
  })
  .meta({ id: 'Turn' })

export const message: z.ZodType<Message> = z
  .object({
    message_id: z.string(),
    turn_id: z.string().nullable(),
    role: z.enum(['user', 'assistant', 'system']),
    text: z.string(),
    synthetic: z.boolean().optional(),
    tool_calls: z.array(json).optional(),
    created_at: instant,
  })
  .meta({ id: 'Message' }) as unknown as z.ZodType<Message>

export const event: z.ZodType<StoredEvent> = z
  .object({
    type: z.string(),
    timestamp: instant,
    seq: z.int(),
    session_id: z.string(),
    turn_id: z.string().nullable(),
    data: z.record(z.string(), json),
  })
  .meta({ id: 'Event' }) as unknown as z.ZodType<StoredEvent>

export const anyJson = json

export const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      row: z.int().optional(),
      field: z.string().optional(),
      task: task.optional(),
    }) as unknown as z.ZodType<ErrorBody>,
  })
  .meta({ id: 'Error' })
