import * as z from 'zod'
import { planIdOf } from '../../core/model/plan.ts'
import { invalidField } from '../../core/model/refusal.ts'
import { isOpen, type Task, type TaskStatus } from '../../core/model/task.ts'
import { isBlank } from '../../core/model/text.ts'
import { TURNED_DOWN } from '../../core/views/say.ts'
import { tool, type JsonObject, type Toolset } from './toolset.ts'
import { existing, tasksIn, type View } from './view.ts'
import type { Json } from '../../core/model/event.ts'

const todo = z.object({
  id: z.int(),
  description: z.string(),
  status: z.enum(['pending', 'current', 'done', 'blocked']),
})

const answer = z.object({
  // False if the review was not confirmed.
  success: z.boolean(),
  state: z.object({ total: z.int(), remaining: z.int(), current: todo.nullable(), items: z.array(todo) }),
})

const NOTED = 'Noted. A person settles this step. Go on with the next one.'

/** A queue of steps that only the judge or a person advances. */
export const manageTodos: Toolset = {
  name: 'manage_todos',
  tools: [
    tool({
      name: 'manage_todos',
      description: 'Adds steps to the queue of this request, or deletes them. Without arguments it returns the queue.',
      input: z.strictObject({
        add: z.array(z.string()).optional().describe('descriptions, in order'),
        delete: z
          .array(z.union([z.string(), z.number()]))
          .optional()
          .describe('ids or exact descriptions'),
      }),
      example: '{"add":["…","…"]} or {"delete":[2]} or {}',
      at: row => `add[${row}]`,
      output: answer,
      removes: true,
      edit: (call, { add = [], delete: matchers = [] }) => {
        const { kept, removed } = withoutMatched(call, add, matchers)
        const create = kept.map(({ title }) => ({ title }))
        return {
          ...(create.length > 0 ? { create, sent: kept.map(({ index }) => index) } : {}),
          ...(removed.length > 0 ? { remove: removed.map(task => ({ task: task.id })) } : {}),
        }
      },
      answer: success,
      created: success,
    }),
    tool({
      name: 'report_todo',
      description: 'Says what came of a step: a judge or a person settles it.',
      isOutside: true,
      input: z.strictObject({
        id: z.int().describe('of the step'),
        result: z.string().describe('what came of it, or why it cannot be done'),
      }),
      example: '{"id":1,"result":"…"}',
      output: answer.extend({ message: z.string().optional() }),
      repeats: true,
      edit: (call, { id, result: outcome }) => {
        if (isBlank(outcome)) throw invalidField('result', { rule: 'empty' })
        // Without a judge only a person may complete a step, so it stays open.
        const fields = call.isJudged ? { status: 'completed' as const, outcome } : { outcome }
        return { change: [{ task: id, fields, if_open: true }] }
      },
      answer: (view, { edit: { judges } }) => (judges ? success(view) : { ...success(view), message: NOTED }),
    }),
  ],
  prompt: named => `## Steps
For a request with several distinct steps, first call ${named('manage_todos')} with all of them in order. Then work through them one at a time: do only
the current step, and answer in text when it is done. Your answer is judged, and the next step comes as NEXT_TODO. If a step cannot be done,
say so and why. Do not answer for the whole request before the last step is settled. Do not plan for a plain question or a single step.`,
  outsidePrompt: named => `## Steps
For a request with several distinct steps, first call ${named('manage_todos')} with all of them in order. Then work through them one at a time, and report
each with ${named('report_todo')}: what came of it, or why it cannot be done. A person, or a judge if there is one, decides what is done; if an answer
says what is missing, do that and report again. Do not plan for a plain question or a single step.`,
  retry: (view, named) =>
    `${named('manage_todos')} takes {"add":["…","…"]}, {"delete":[id]} or {}.${existing('Already in the queue', shown(view), 'Do not add these again.')}`,
  settling: named => `report each step with ${named('report_todo')}: what came of it, or why it cannot be done.`,
  vocabulary: {
    idOf: ({ number }) => number,
    fields: ['title', 'status'],
    words: {
      title: 'description',
      outcome: 'what came of it',
      in_progress: 'current',
      completed: 'done',
      cancelled: 'removed',
    },
    sentences: {
      reviewed_tasks_are_fixed: () => 'A reviewed step cannot be deleted. Leave it to the person.',
      rejected_task_stays: ({ task, by }) =>
        `Step ${task.number} was ${TURNED_DOWN[by]} and cannot be deleted. Do it, or say why it cannot be done.`,
    },
  },
  refused: (error, view) => ({ success: false, error, state: todosState(view) }),
  unconfirmed: (answer, view) => ({ success: false, ...answer, state: todosState(view) }),
}

const todosState = (view: View): TodosState => todosOf(tasksIn(view), planIdOf(view.state, view.turnId))

interface Added {
  readonly title: string
  readonly index: number
}

/** A call's additions and removals. Additions that the same call deletes are never created. */
function withoutMatched(
  call: View,
  add: readonly string[],
  matchers: readonly (string | number)[],
): { kept: readonly Added[]; removed: readonly Task[] } {
  const listed = shown(call)
  const added = [...add.entries()].flatMap(([index, title]) => (isBlank(title) ? [] : [{ title, index }]))
  const byTitle = Map.groupBy<string, Task | Added>([...listed, ...added], ({ title }) => title.trim())
  const byId = new Map<string, Task | Added>([
    ...listed.map(task => [String(task.number), task] as const),
    ...added.map((entry, place) => [String(call.state.last_number + 1 + place), entry] as const),
  ])
  const matched = new Set(
    matchers.map(String).flatMap(matcher => {
      const one = byId.get(matcher)
      return one ? [one] : (byTitle.get(matcher) ?? [])
    }),
  )
  return {
    kept: added.filter(entry => !matched.has(entry)),
    removed: listed.filter(task => matched.has(task)),
  }
}

function success(view: View): JsonObject {
  return { success: true, state: todosState(view) }
}

const shown = (view: View): Task[] => tasksIn(view).filter(task => task.status !== 'cancelled')

export type Todo = { readonly id: number; readonly description: string; readonly status: string }
export type TodosState = {
  readonly total: number
  readonly remaining: number
  readonly current: Todo | null
  readonly items: readonly Todo[]
}

const SHOWN: Record<Exclude<TaskStatus, 'cancelled'>, string> = {
  pending: 'pending',
  in_progress: 'current',
  completed: 'done',
  blocked: 'blocked',
}

/** The short form of a list. Cancelled tasks are neither shown nor counted. */
export function todosOf(tasks: readonly Task[], plan: string | null): TodosState {
  const shown = tasks.flatMap(task => (task.status === 'cancelled' ? [] : [{ task, todo: todoOf(task, task.status) }]))
  const started = shown.filter(({ task }) => task.status === 'in_progress')
  // Each plan may have a current task; this plan's comes first.
  const current = started.find(({ task }) => task.plan_id === plan) ?? started[0]
  return {
    total: shown.length,
    remaining: tasks.filter(isOpen).length,
    current: current?.todo ?? null,
    items: shown.map(({ todo }) => todo),
  } satisfies Json
}

function todoOf({ number, title }: Task, status: keyof typeof SHOWN): Todo {
  return { id: number, description: title, status: SHOWN[status] }
}
