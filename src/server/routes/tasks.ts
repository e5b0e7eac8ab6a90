import * as z from 'zod'
import { type Conversation, emptyConversation } from '../../core/model/conversation.ts'
import { needsState, taskOnWire } from '../../core/proof/proof-view.ts'
import type { Task } from '../../core/model/task.ts'
import type { FoundTasksAnswer, TaskAnswer, TasksAnswer, TaskView } from '../../core/views/wire.ts'
import {
  addTask,
  changeTask,
  type Door,
  insist,
  removeTask,
  taskPage,
  undoChange,
  withoutRow,
} from '../../engine/door/door.ts'

import { notFound } from '../http/replies.ts'
import { idempotencyKey, ifMatch, keyIn, onceFor, pageOf, versionIn } from '../http/requests.ts'
import { type Answer, route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/shapes.ts'
import { known } from './sessions.ts'

const ofSession = z.object({ session_id: s.id })
export const ofTask = ofSession.extend({ task_id: s.id })

export const taskRoutes = routes('Tasks', {
  listTasks: route('get', '/api/sessions/:session_id/tasks', 'agent', {
    summary: 'The tasks of a conversation, in list order',
    params: ofSession,
    query: z.object({
      turn_id: s.id.optional(),
      status: s.taskStatus.optional(),
      limit: s.limit(200, 50),
      cursor: s.cursor,
    }),
    answers: {
      200: {
        description: 'A page of the list',
        schema: shape('TasksAnswer'),
      },
    },
    handle: async ({ query, ref }, { door }) => {
      const { turn_id: turn, status, ...page } = query
      const state = await known(door, ref, 'list')
      if (turn !== undefined && !state.turns.has(turn)) {
        throw notFound('turn_not_found', `There is no turn ${turn} in this conversation.`)
      }
      const { items, next_cursor } = await pageOf(Promise.resolve().then(() => taskPage(state, { turn, status }, page)))
      const tasks = items.map(task => taskOnWire(state, task))
      return { body: { tasks, next_cursor, seq: state.seq } satisfies TasksAnswer }
    },
  }),
  searchTasks: route('get', '/api/tasks', 'agent', {
    summary: 'Tasks with these words in title, details and outcome, newest first',
    query: z.object({
      q: s.searchedText,
      limit: s.limit(200, 50),
      cursor: s.cursor,
    }),
    answers: {
      200: {
        description: 'A page of the list',
        schema: shape('FoundTasksAnswer'),
      },
    },
    handle: async ({ query, caller }, { door }) => {
      const { q, ...page } = query
      const { items, ...rest } = await pageOf(door.search.tasks(caller.tenant, q, page))
      return { body: { tasks: await shown(door, caller.tenant, items), ...rest } satisfies FoundTasksAnswer }
    },
  }),
  addTask: route('post', '/api/sessions/:session_id/tasks', 'person', {
    summary: 'Adds a task to the running or latest turn',
    params: ofSession,
    headers: idempotencyKey,
    body: s.newTask,
    answers: { 201: { description: 'The task', schema: shape('TaskAnswer') } },
    handle: async ({ ref, body, header }, { door }) =>
      answered(await addTask(door, { ...ref, once: onceFor(keyIn(header), body) }, body), 201),
  }),
  changeTask: route('patch', '/api/sessions/:session_id/tasks/:task_id', 'person', {
    summary: 'Changes a task',
    params: ofTask,
    headers: ifMatch,
    body: s.taskPatch,
    answers: {
      200: { description: 'The task', schema: shape('TaskAnswer') },
      412: { description: 'The task was changed meanwhile: `error.task` is its current state' },
      428: { description: '`If-Match` is missing' },
    },
    handle: async ({ ref, params, body, header }, { door }) =>
      answered(await changeTask(door, ref, params.task_id, body, versionIn(header, 'task'))),
  }),
  removeTask: route('delete', '/api/sessions/:session_id/tasks/:task_id', 'person', {
    summary: 'Removes a task from the list; its history stays',
    params: ofTask,
    headers: ifMatch,
    answers: {
      200: { description: 'The removed task', schema: shape('TaskAnswer') },
      412: { description: 'The task was changed meanwhile: `error.task` is its current state' },
      428: { description: '`If-Match` is missing' },
    },
    handle: async ({ ref, params, header }, { door }) =>
      answered(await removeTask(door, ref, params.task_id, versionIn(header, 'task'))),
  }),
  insistOnTask: route('post', '/api/sessions/:session_id/tasks/:task_id/insist', 'person', {
    summary: 'Has a disputed task done as it is asked; to change what it asks for, or to settle it, change the task',
    params: ofTask,
    body: s.insistence,
    answers: {
      200: { description: 'The task, which is open again', schema: shape('InsistAnswer') },
      409: { description: '`not_disputed`' },
    },
    handle: async ({ params, body, ref }, { door, turns }) => {
      const made = await insist(door, ref, params.task_id, body.comment)
      if (made.turn_id !== undefined) turns?.take(ref, made.turn_id)
      return answered(made)
    },
  }),
  undoTaskChange: route('post', '/api/sessions/:session_id/tasks/:task_id/undo', 'person', {
    summary: "Takes back a person's change to a task: an edit, a move, a cancellation, a removal or a new task",
    params: ofTask,
    body: s.undoneVersion,
    answers: {
      200: { description: 'The task; undoing the version that it has now is a redo', schema: shape('TaskAnswer') },
      409: {
        description: '`not_undoable`: `error.because` says why, `error.fields` what has changed since',
      },
    },
    handle: async ({ params, body, ref }, { door }) => {
      return answered(await withoutRow(undoChange(door, ref, params.task_id, body.version)))
    },
  }),
})

async function shown(door: Door, tenant: string, tasks: readonly Task[]): Promise<readonly TaskView[]> {
  const ids = new Set(tasks.filter(needsState).map(({ session_id }) => session_id))
  const read = async (conversation: string): Promise<[string, Conversation]> => [
    conversation,
    await door.read({ tenant, conversation }),
  ]
  const states = new Map(await Promise.all([...ids].map(read)))
  return tasks.map(task => taskOnWire(states.get(task.session_id) ?? NO_STATE, task))
}

const NO_STATE = emptyConversation('')

export function answered(body: TaskAnswer, status = 200): Answer {
  return { status, body, headers: { etag: `"${body.task.version}"` } }
}
