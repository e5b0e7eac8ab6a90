import type { CheckedRow } from '../door/door.ts'
import { planIdOf } from '../../core/model/plan.ts'
import * as z from 'zod'
import { listed } from '../../core/model/conversation.ts'
import { findTask } from '../../core/decide/tasks.ts'
import { ROW_STATUS, type RowStatus, TASK_STATUS } from '../../core/model/row.ts'
import { PRIORITIES, type Task } from '../../core/model/task.ts'
import { taskForModel } from './for-model.ts'
import { check, type Done, type JsonObject, type Toolset, tool, scope } from './toolset.ts'
import { existing, nextIn, remainingIn, tasksIn, type View } from './view.ts'

const ROWS = Object.keys(TASK_STATUS) as RowStatus[]
const STATUS = { ...TASK_STATUS, cancelled: 'cancelled' } as const
const WORD = { ...ROW_STATUS, cancelled: 'cancelled' } as const
const priority = z.enum(PRIORITIES as ['high', 'medium', 'low'])
const tags = z.array(z.string())
const id = z.string().describe('id of a task')

const planned = z.object({
  title: z.string(),
  details: z.string().optional(),
  priority: priority.optional(),
  status: z.enum(ROWS as ['todo', 'doing', 'blocked', 'done']).optional(),
  tags: tags.optional(),
})
const shown = z.object({
  id: z.string(),
  title: z.string(),
  details: z.string(),
  priority,
  status: z.enum([...ROWS, 'cancelled'] as ['todo', 'doing', 'blocked', 'done', 'cancelled']),
  tags,
  session_id: z.string(),
  conversation_turn_id: z.string(),
  source_user_message_id: z.string().nullable(),
  source_assistant_message_id: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  outcome: z.string().nullable(),
})
/** How a task's checks stand, and how far its completion can be trusted. */
const standing = {
  checks: z
    .array(
      z.looseObject({
        id: z.string(),
        kind: z.enum(['command', 'file', 'unchanged', 'person']),
        approved: z.boolean(),
        state: z.enum(['waiting', 'running', 'passed', 'failed', 'inconclusive', 'stale']),
        baseline: z.enum(['failed', 'passed', 'not_run']),
      }),
    )
    .optional(),
  standing: z.enum(['proven', 'confirmed', 'judged', 'reported']).optional(),
  standing_reasons: z.array(z.string()).optional(),
}
const changed = z.object({
  ok: z.literal(true),
  task: shown.nullable(),
  next: shown.nullable(),
  remaining: z.int(),
})

/** Tasks that a person confirms before they are written. */
export const taskManager: Toolset = {
  name: 'task_manager',
  tools: [
    tool({
      name: 'add_task',
      description:
        'Proposes tasks, as an array even for one. A person edits and confirms them; the answer says what was created.',
      input: z.object({ tasks: z.array(planned) }),
      checked: {
        input: z.object({ tasks: z.array(planned.extend({ check, scope })) }),
        example: '{"tasks":[{"title":"…","details":"…","check":"npm test"}]}',
      },
      example: '{"tasks":[{"title":"…","details":"…","priority":"medium"}]}',
      at: (row, field) => `tasks[${row}].${field}`,
      output: z.object({
        confirmed: z.literal(true),
        created_count: z.int(),
        tasks: z.array(shown),
        session_id: z.string(),
        conversation_turn_id: z.string(),
        // Sent as done, but rejected by the judge.
        not_accepted: z.array(z.object({ id: z.string(), reason: z.string() })).optional(),
      }),
      edit: (call, { tasks }: { tasks: readonly (z.infer<typeof planned> & CheckedRow)[] }) => ({
        create: tasks.map(({ status, check: line, scope: globs, ...fields }, row) => ({
          ...fields,
          ...(status ? { status: TASK_STATUS[status] } : {}),
          ...call.checked({ check: line, scope: globs }, row),
        })),
      }),
      answer: (view, { made, notDone }) => ({
        ...created(view, made),
        ...(notDone.length > 0 ? { not_accepted: notDone } : {}),
      }),
      created,
    }),
    tool({
      name: 'list_tasks',
      description: 'Lists tasks of this conversation.',
      input: z.object({
        include_done: z.boolean().optional(),
        current_turn_only: z.boolean().optional(),
        limit: z.int().min(1).max(200).optional(),
      }),
      example: '{"include_done":true,"limit":50}',
      output: z.object({ tasks: z.array(shown.extend(standing)), total: z.int() }),
      read: (view, { include_done = false, current_turn_only = false, limit = 50 }) => {
        const tasks = listed(view.state)
          .filter(task => include_done || (task.status !== 'completed' && task.status !== 'cancelled'))
          .filter(task => !current_turn_only || task.plan_id === planIdOf(view.state, view.turnId))
        const chosen = tasks.slice(0, limit).map(task => ({ ...row(task), ...standingIn(view, task) }))
        return { tasks: chosen, total: tasks.length }
      },
    }),
    tool({
      name: 'update_task',
      description: 'Changes a task. Done and blocked need an outcome.',
      input: z.object({
        id,
        title: z.string().optional(),
        details: z.string().optional(),
        priority: priority.optional(),
        status: z.enum([...ROWS, 'cancelled'] as ['todo', 'doing', 'blocked', 'done', 'cancelled']).optional(),
        tags: tags.optional(),
        outcome: z.string().optional(),
      }),
      example: '{"id":"…","status":"done","outcome":"…"}',
      isForExisting: true,
      output: changed,
      repeats: true,
      edit: (_, { id, status, ...fields }) => ({
        change: [{ task: id, fields: { ...fields, ...(status ? { status: STATUS[status] } : {}) } }],
      }),
      answer: changedTask,
    }),
    tool({
      name: 'complete_task',
      description: 'Completes a task with its outcome.',
      input: z.object({ id, outcome: z.string() }),
      example: '{"id":"…","outcome":"…"}',
      output: changed,
      repeats: true,
      edit: (_, { id, outcome }) => ({ change: [{ task: id, fields: { status: 'completed', outcome } }] }),
      answer: changedTask,
    }),
    tool({
      name: 'delete_task',
      description: 'Removes a task from the list.',
      input: z.object({ id }),
      example: '{"id":"…"}',
      output: changed,
      removes: true,
      edit: (_, { id }) => ({ remove: [{ task: id }] }),
      answer: (view, { events }) => {
        const gone = events.find(event => event.type === 'task_removed')
        return { ok: true, task: gone ? row(gone.data.task) : null, ...onward(view) }
      },
    }),
  ],
  prompt: named => `## Tasks
For a request with several steps, propose them all at once with ${named('add_task')}; a person edits and confirms the list before it is written. Follow
the confirmed list, and do not propose again what was removed. Work through the tasks in order and complete each with ${named('complete_task')} and its
outcome. Set what cannot be done to blocked with ${named('update_task')}, with the reason as its outcome. Do not give your final answer before
every task is done, blocked or cancelled. Do not plan for a plain question or a single step.`,
  retry: (view, named) =>
    `${named('add_task')} takes {"tasks":[{"title":"…"}]}, an array even for one task.${existing('Already on the list', tasksIn(view), 'Do not add these again.')}`,
  settling: named =>
    `complete each task with ${named('complete_task')} and its outcome. If one cannot be done, set it to blocked with ${named('update_task')} and say in the outcome what is in the way.`,
  vocabulary: {
    idOf: ({ id }) => id,
    fields: ['title', 'details', 'priority', 'tags', 'status', 'outcome', 'checks'],
    words: ROW_STATUS,
    sentences: {
      reviewed_tasks_are_fixed: ({ action }) =>
        action === 'reword'
          ? 'A reviewed task cannot be reworded. Propose the new wording as a new task.'
          : 'A reviewed task cannot be deleted. Set it to cancelled, with an outcome.',
    },
  },
  refused: error => ({ ok: false, error }),
}

function changedTask(view: View, { edit: { change = [] } }: Done): JsonObject {
  const task = findTask(view.state, change[0]?.task ?? '')
  return { ok: true, task: task ? row(task) : null, ...onward(view) }
}

function created({ state, turnId }: View, tasks: readonly Task[]): JsonObject {
  return {
    confirmed: true,
    created_count: tasks.length,
    tasks: tasks.map(row),
    session_id: state.session_id,
    conversation_turn_id: turnId,
  }
}

function standingIn({ state }: View, task: Task): JsonObject {
  const { checks, standing, standing_reasons } = taskForModel(state, task)
  return {
    ...(checks ? { checks: checks.map(each => ({ ...each })) } : {}),
    ...(standing && standing_reasons ? { standing, standing_reasons } : {}),
  }
}

function onward(view: View): JsonObject {
  const next = nextIn(view)
  return { next: next ? row(next) : null, remaining: remainingIn(view) }
}

/** A task in an answer has the fields of its schema. */
const FIELDS = Object.keys(shown.shape) as (keyof Task)[]

const row = (task: Task): JsonObject => ({
  ...(Object.fromEntries(FIELDS.map(field => [field, task[field] ?? null])) as JsonObject),
  status: WORD[task.status],
})
