import type { CheckedRow } from '../door/door.ts'
import * as z from 'zod'
import { listed } from '../../core/model/conversation.ts'
import { findTask, turnedDownBy } from '../../core/decide/tasks.ts'
import { invalidField } from '../../core/model/refusal.ts'
import { isOpen, STATUSES, type Task, type TaskStatus } from '../../core/model/task.ts'
import { isBlank } from '../../core/model/text.ts'
import { check, type JsonObject, type Toolset, tool } from './toolset.ts'
import { existing, remainingIn, type View } from './view.ts'

const planned = z.object({
  title: z.string(),
  context: z.string().optional().describe('what is needed to do it'),
  completionCriteria: z.string().optional().describe('how to tell it is done'),
  agentType: z.string().optional().describe('a note only: do the work yourself'),
  order: z.int().optional().describe('place in the plan, from 1; default: the end'),
})
const status = z.enum(STATUSES as [TaskStatus, ...TaskStatus[]])
const item = z.object({
  id: z.string(),
  title: z.string(),
  context: z.string(),
  completionCriteria: z.string(),
  agentType: z.string().nullable(),
  status,
  priority: z.int(),
  outcome: z.string().nullable(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
})
const SUMMARY = {
  total: z.int(),
  pending: z.int(),
  inProgress: z.int(),
  completed: z.int(),
  cancelled: z.int(),
  blocked: z.int(),
}

/** A plan for one turn, to be finished before the turn ends. */
export const turnTodos: Toolset = {
  name: 'turn_todos',
  tools: [
    tool({
      name: 'create_todo',
      description: 'Plans this turn: one item per step, all in one call.',
      input: z.object({ items: z.array(planned) }),
      checked: {
        input: z.object({ items: z.array(planned.extend({ check })) }),
        example: '{"items":[{"title":"…","completionCriteria":"…","check":"npm test"}]}',
      },
      example: '{"items":[{"title":"…","completionCriteria":"…"}]}',
      at: (row, field) => `items[${row}].${field}`,
      output: z.object({
        created: z.array(z.object({ id: z.string(), title: z.string(), order: z.int() })),
        totalPending: z.int(),
      }),
      edit: (call, { items }: { items: readonly (z.infer<typeof planned> & CheckedRow)[] }) => ({
        create: items.map(({ title, context, completionCriteria, agentType, order, ...checked }, row) => ({
          title,
          details: context,
          criteria: completionCriteria,
          // Models send '' for an omitted field.
          agent_type: agentType || undefined,
          order,
          ...call.checked(checked, row),
        })),
      }),
      answer: (view, { made }) => created(view, made),
      created,
    }),
    tool({
      name: 'list_todo',
      description:
        'Lists the items of this turn: the open ones, or those with a status. Only the user, a judge or a failing check sets blocked.',
      input: z.object({ status: z.enum([...STATUSES, 'all'] as [TaskStatus, ...TaskStatus[], 'all']).optional() }),
      example: '{"status":"all"}',
      output: z.object({ items: z.array(item), summary: z.object(SUMMARY) }),
      read: (view, { status }) => {
        const plan = planOf(view)
        const chosen =
          status === undefined ? plan.filter(isOpen) : plan.filter(task => status === 'all' || task.status === status)
        const count = (wanted: TaskStatus): number => plan.filter(task => task.status === wanted).length
        return {
          items: chosen.map(task => row(task, plan.indexOf(task))),
          summary: {
            total: plan.length,
            pending: count('pending'),
            inProgress: count('in_progress'),
            completed: count('completed'),
            cancelled: count('cancelled'),
            blocked: count('blocked'),
          },
        }
      },
    }),
    tool({
      name: 'complete_todo',
      description: 'Completes or cancels an item with its outcome.',
      input: z.object({
        todoId: z.string(),
        outcome: z.string().describe('what was done, or why it was cancelled'),
        status: z.enum(['completed', 'cancelled']).optional(),
      }),
      example: '{"todoId":"…","outcome":"…"}',
      output: z.object({
        id: z.string(),
        title: z.string(),
        status,
        outcome: z.string(),
        completedAt: z.string().nullable(),
        remaining: z.int(),
      }),
      edit: (call, { todoId, outcome, status = 'completed' }) => {
        if (isBlank(outcome)) throw invalidField('outcome', { rule: 'empty' })
        // A rejected claim may be blocked, but these tools have no word for that.
        const isKept = status === 'cancelled' && !call.isJudged && turnedDownBy(call.state, todoId) !== undefined
        const fields = { status: isKept ? ('blocked' as const) : status, outcome }
        return { change: [{ task: todoId, fields, if_open: true }] }
      },
      answer: (view, { edit: { change = [] } }) => {
        const [{ task: id, fields } = { task: '', fields: {} }] = change
        const task = findTask(view.state, id)
        return {
          id,
          title: task?.title ?? '',
          status: task?.status ?? fields.status ?? 'completed',
          outcome: task?.outcome ?? fields.outcome ?? '',
          completedAt: task?.completed_at ?? null,
          remaining: remainingIn(view),
        }
      },
    }),
  ],
  prompt: named => `## Planning
For a request with several distinct steps, plan first: one ${named('create_todo')} call with all items. Then work through them yourself, one after the
other, and call ${named('complete_todo')} with the outcome after each. Its answer says how many remain; ${named('list_todo')} shows them. Cancel an item that
cannot be done, with the reason as its outcome. Do not give your final answer before every item is completed or cancelled. Do not plan for
a plain question or a single step.`,
  retry: (view, named) =>
    `${named('create_todo')} takes {"items":[{"title":"…"}]}, an array even for one item.${existing('Already in the plan', planOf(view), 'Do not create these again.')}`,
  settling: named =>
    `complete each item with ${named('complete_todo')} and its outcome. If one cannot be done, cancel it: status cancelled, with the reason as its outcome.`,
  vocabulary: {
    idOf: ({ id }) => id,
    // Without `priority`, which is the place in the plan here.
    fields: ['title', 'details', 'criteria', 'status', 'outcome', 'checks'],
    words: { details: 'context', criteria: 'completionCriteria', agent_type: 'agentType' },
  },
  refused: error => ({ error }),
}

const planOf = ({ state, turnId }: View): Task[] => listed(state, turnId)

function created(view: View, tasks: readonly Task[]): JsonObject {
  const plan = planOf(view)
  return {
    created: tasks.map(({ id, title }) => ({ id, title, order: plan.findIndex(task => task.id === id) + 1 })),
    totalPending: remainingIn(view),
  }
}

function row(task: Task, place: number): JsonObject {
  return {
    id: task.id,
    title: task.title,
    context: task.details,
    completionCriteria: task.criteria,
    agentType: task.agent_type ?? null,
    status: task.status,
    priority: place,
    outcome: task.outcome ?? null,
    createdAt: task.created_at,
    startedAt: task.started_at ?? null,
    completedAt: task.completed_at ?? null,
  }
}
