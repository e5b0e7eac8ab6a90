import type { CheckedRow } from '../door/door.ts'
import * as z from 'zod'
import { listed } from '../../core/model/conversation.ts'
import { findTask, openIn } from '../../core/decide/tasks.ts'
import { Refusal, type TaskName } from '../../core/model/refusal.ts'
import { TURNED_DOWN } from '../../core/views/say.ts'
import type { Task } from '../../core/model/task.ts'
import { check, type Done, type JsonObject, type Toolset, type ToolEdit, tool } from './toolset.ts'
import { existing, type View } from './view.ts'

const taskId = z.object({ taskId: z.string().describe('id of the task, as in the list') })

const planned = z.object({ title: z.string(), description: z.string().default('') })
const listedTask = z.object({ id: z.string(), title: z.string(), description: z.string(), done: z.boolean() })
const changed = z.object({ ok: z.literal(true), task: listedTask })

/** The conversation's list, one task at a time. On the file store it is a JSON file that other programs can read. */
export const taskList: Toolset = {
  name: 'task_list',
  tools: [
    tool({
      name: 'ListTasks',
      description: 'Lists the tasks of this conversation.',
      input: z.object({}),
      example: '{}',
      output: z.object({ tasks: z.array(listedTask) }),
      read: view => ({ tasks: shown(view).map(row) }),
    }),
    tool({
      name: 'AddTask',
      description: 'Adds a task to the list of this conversation.',
      input: planned,
      checked: {
        input: planned.extend({ check }),
        example: '{"title":"…","description":"…","check":"npm test"}',
      },
      example: '{"title":"…","description":"…"}',
      output: listedTask,
      edit: (call, { title, description, ...checked }: z.infer<typeof planned> & CheckedRow) => ({
        create: [{ title, details: description, ...call.checked(checked) }],
      }),
      answer: (view, { made }) => added(view, made),
      created: added,
    }),
    tool({
      name: 'CompleteTask',
      description: 'Marks a task as done.',
      input: taskId,
      example: '{"taskId":"1"}',
      output: changed,
      repeats: true,
      edit: (view, { taskId }) => change(view, taskId, 'completed'),
      answer: changedTask,
    }),
    tool({
      name: 'UncompleteTask',
      description: 'Marks a task as not done.',
      input: taskId,
      example: '{"taskId":"1"}',
      output: changed,
      repeats: true,
      edit: (view, { taskId }) => change(view, taskId, 'pending'),
      answer: changedTask,
    }),
    tool({
      name: 'DeleteTask',
      description: 'Removes a task from the list.',
      input: taskId,
      example: '{"taskId":"1"}',
      output: z.object({ ok: z.literal(true) }),
      removes: true,
      edit: (view, input) => ({ remove: [{ task: find(view, input.taskId).id }] }),
      answer: () => ({ ok: true }),
    }),
  ],
  prompt: named => `## Task list
This conversation has a task list. For work with several steps, read it with ${named('ListTasks')}, add the steps with ${named('AddTask')}, work through them in
order, and mark each one with ${named('CompleteTask')} when it is done. Use ${named('UncompleteTask')} and ${named('DeleteTask')} for corrections. What you did
not do stays open, and your answer does not wait for it. Do not plan for a plain question or a single step.`,
  retry: (view, named) =>
    `${named('AddTask')} takes {"title":"…","description":"…"}, the others {"taskId":"…"}.${existing('Already on the list', shown(view), 'Do not add these again.', idOf)}`,
  settling: named =>
    `mark each task with ${named('CompleteTask')} when it is done. If one cannot be done, leave it open and say why in your answer.`,
  vocabulary: {
    idOf,
    fields: ['title', 'details', 'status'],
    words: {
      details: 'description',
      outcome: 'what came of it',
      status: 'the task',
      pending: 'not done',
      in_progress: 'not done',
      blocked: 'not done',
      completed: 'done',
      cancelled: 'removed',
    },
    sentences: {
      task_not_found: () => 'Task not found',
      reviewed_tasks_are_fixed: () => 'A reviewed task cannot be deleted. Leave it to the person.',
      rejected_task_stays: ({ task, by }) =>
        `Task ${idOf(task)} was ${TURNED_DOWN[by]} and cannot be deleted. Do it, or say in your answer why it cannot be done.`,
    },
  },
  refused: error => ({ ok: false, error }),
}

function change(view: View, id: string, status: 'completed' | 'pending'): ToolEdit | { unchanged: JsonObject } {
  const task = find(view, id)
  // A task that is not completed needs no change.
  if (status === 'pending' && task.status !== 'completed') return { unchanged: { ok: true, task: row(task) } }
  return { change: [{ task: task.id, fields: { status } }] }
}

function changedTask({ state }: View, { edit: { change = [] } }: Done): JsonObject {
  const task = findTask(state, change[0]?.task ?? '')
  return { ok: true, ...(task ? { task: row(task) } : {}) }
}

function added(_: View, tasks: readonly Task[]): JsonObject {
  // The person may have added tasks, so answer with the model's own.
  const task = tasks.find(({ created_by }) => created_by === 'tool') ?? tasks[0]
  return task ? row(task) : {}
}

const shown = ({ state }: View): Task[] => listed(state).filter(task => task.status !== 'cancelled')

function idOf(task: TaskName): string {
  return task.file_id ?? String(task.number)
}

/** Finds by the id that this toolset shows: a number, or the id in a file. */
function find(view: View, id: string): Task {
  const task = shown(view).find(each => idOf(each) === id)
  if (!task) throw new Refusal('task_not_found', { ref: id, ...openIn(view.state) })
  return task
}

function row(task: Task): JsonObject {
  return { id: idOf(task), title: task.title, description: task.details, done: task.status === 'completed' }
}
