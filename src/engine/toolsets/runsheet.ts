import * as z from 'zod'
import type { CheckedRow } from '../door/door.ts'
import { planIdOf } from '../../core/model/plan.ts'
import { describeCheck } from '../../core/proof/check-text.ts'
import { listed } from '../../core/model/conversation.ts'
import { answerText, isDisputed, unheardAnswers } from '../../core/proof/dispute.ts'
import type { Json } from '../../core/model/event.ts'
import type { Changes, ConfirmedTask } from '../../core/model/review.ts'
import { BLANK, type Row } from '../../core/model/row.ts'
import { isOpen, type Task, type TaskStatus } from '../../core/model/task.ts'
import { check, scope, tool, type JsonObject, type Toolset } from './toolset.ts'
import { existing, nextIn, remainingIn, tasksIn, type View } from './view.ts'

const STATUS: Record<'done' | 'blocked' | 'cancelled' | 'doing' | 'todo', TaskStatus> = {
  done: 'completed',
  blocked: 'blocked',
  cancelled: 'cancelled',
  doing: 'in_progress',
  todo: 'pending',
}
const WORD = Object.fromEntries(Object.entries(STATUS).map(([word, status]) => [status, word])) as Record<
  TaskStatus,
  string
>

const planned = z.object({ title: z.string(), done_when: z.string().optional() })

const STATUSES = ['done', 'blocked', 'disputed', 'cancelled', 'doing', 'todo'] as const

/** Every answer says what is next and what remains. */
const ONWARD = {
  next: z.string().nullable(),
  remaining: z.int(),
  /** A person's answers to disputes since the last answer of a tool. */
  disputes: z.array(z.string()).optional(),
}

/** Our own toolset: few tools, short ids, short answers. */
export const runsheet: Toolset = {
  name: 'runsheet',
  tools: [
    tool({
      name: 'plan',
      description: 'Propose all steps at once; the user may edit them.',
      input: z.object({ tasks: z.array(planned) }),
      checked: {
        input: z.object({ tasks: z.array(planned.extend({ check, scope })) }),
        example: '{"tasks":[{"title":"…","done_when":"…","check":"npm test"}]}',
      },
      example: '{"tasks":[{"title":"…","done_when":"…"}]}',
      at: (row, field) => `tasks[${row}].${field}`,
      output: z.object({ ids: z.array(z.int()), ...ONWARD }),
      edit: (call, { tasks }: { tasks: readonly (z.infer<typeof planned> & CheckedRow)[] }) => ({
        create: tasks.map(({ title, done_when, ...checked }, row) => ({
          title,
          criteria: done_when,
          ...call.checked(checked, row),
        })),
      }),
      answer: (view, { made }) => created(view, made),
      created,
    }),
    tool({
      name: 'update',
      description:
        'Settle a task with its outcome, or set its status. If a check contradicts the task or cannot pass, dispute it; never work around it.',
      input: z.object({
        id: z.int(),
        outcome: z.string().optional(),
        status: z.enum(STATUSES).optional().describe('default done'),
      }),
      example: '{"id":1,"outcome":"…"}',
      disputing: '{"id":1,"status":"disputed","outcome":"…"}',
      isForExisting: true,
      output: z.object(ONWARD),
      repeats: true,
      edit: (_, { id, outcome, status = 'done' }) => ({
        change: [
          status === 'disputed'
            ? { task: id, fields: { outcome }, disputes: true }
            : { task: id, fields: { status: STATUS[status], outcome } },
        ],
      }),
      answer: onward,
    }),
    tool({
      name: 'tasks',
      description: 'List the tasks.',
      input: z.object({}),
      example: '{}',
      output: z.object({
        tasks: z.array(
          z.object({
            id: z.int(),
            title: z.string(),
            status: z.enum(STATUSES),
            done_when: z.string().optional(),
            outcome: z.string().optional(),
          }),
        ),
        ...ONWARD,
      }),
      read: view => ({ tasks: withinReach(view).map(row), ...onward(view) }),
    }),
  ],
  prompt: named => `## Plan
For work of several steps, call ${named('plan')} once with all of them. The user may edit them: go by the answer, and do not propose again what was removed.
Work through the tasks in order and settle each with ${named('update')} and its outcome; every answer names the next. Do not give your final answer
before all are done, blocked or cancelled. Do not plan for a plain question or a single step.`,
  retry: (view, named) =>
    `${named('plan')} takes {"tasks":[{"title":"…"}]}.${existing('Planned already', tasksIn(view), 'Do not plan these again.', ({ number }) => number)}`,
  settling: named =>
    `settle each task with ${named('update')} and its outcome. If one cannot be done, set it to blocked and say in the outcome what is in the way.`,
  vocabulary: {
    idOf: ({ number }) => number,
    fields: ['title', 'criteria', 'status', 'outcome', 'checks'],
    words: { ...WORD, criteria: 'done_when' },
  },
  refused: (error, view) => ({ error, ...onward(view) }),
  unconfirmed: (answer, view) => ({ ...answer, ...onward(view) }),
  changes: changed,
}

/** Kept rows are left out, because the model knows them. */
function changed(
  { edited, added, removed, reordered }: Changes,
  made: readonly ConfirmedTask[],
  tasks: readonly Task[],
): Json {
  const numbers = new Map(tasks.map(({ id, number }) => [id, number]))
  const idsOf = (change: ConfirmedTask['change']): readonly number[] =>
    made.flatMap(task => (task.change === change ? (numbers.get(task.task_id) ?? 0) : []))
  const [editedIds, addedIds] = [idsOf('edited'), idsOf('added')]
  const parts: JsonObject = {
    ...(edited.length > 0
      ? { edited: edited.map(({ from, to }, index) => ({ id: editedIds[index] ?? 0, ...different(from, to) })) }
      : {}),
    ...(added.length > 0 ? { added: added.map(({ title }, index) => ({ id: addedIds[index] ?? 0, title })) } : {}),
    ...(removed.length > 0 ? { removed: removed.map(({ title }) => title) } : {}),
    ...(reordered ? { order: tasks.map(({ number, title }) => `${number} ${title}`) } : {}),
  }
  return Object.keys(parts).length === 0 ? 'none' : parts
}

function different(from: Row, to: Row): JsonObject {
  const before = briefly(from)
  const fields = Object.entries(briefly(to))
  return Object.fromEntries(fields.filter(([field, value]) => JSON.stringify(before[field]) !== JSON.stringify(value)))
}

/** A row in the model's words; for a check, only what must hold. */
function briefly(row: Row): JsonObject {
  const { criteria, checks, ...rest } = { ...BLANK, ...row }
  return { ...rest, done_when: criteria, checks: checks.map(describeCheck) }
}

/** Tasks that `update` may change: this turn's plan, and every other open task. */
function withinReach(view: View): Task[] {
  const plan = planIdOf(view.state, view.turnId)
  return listed(view.state).filter(task => isOpen(task) || task.plan_id === plan)
}

/** Ids only, because the model knows what it proposed. */
function created(view: View, tasks: readonly Task[]): JsonObject {
  return { ids: tasks.map(({ number }) => number), ...onward(view) }
}

function onward(view: View): JsonObject {
  const next = nextIn(view)
  const disputes = unheardAnswers(view.state).map(task => `${task.number} ${task.title}: ${answerText(task)}`)
  return {
    next: next ? `${next.number} ${next.title}` : null,
    remaining: remainingIn(view),
    ...(disputes.length > 0 ? { disputes } : {}),
  }
}

function row(task: Task): JsonObject {
  const { number, title, status, criteria, outcome } = task
  return {
    id: number,
    title,
    status: isDisputed(task) ? 'disputed' : WORD[status],
    ...(criteria === '' ? {} : { done_when: criteria }),
    ...(outcome === undefined ? {} : { outcome }),
  }
}
