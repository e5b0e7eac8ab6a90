import * as z from 'zod'
import { Refusal } from '../../core/model/refusal.ts'
import { type Conversation, emptyConversation } from '../../core/model/conversation.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { needsState, taskOnWire } from '../../core/proof/proof-view.ts'
import type { Task } from '../../core/model/task.ts'
import type { FoundTasksAnswer, TaskAnswer, TasksAnswer, TaskView } from '../../core/views/wire.ts'
import { type Door, insist, preparedChanges, preparedTask, taskPage, undoChange } from '../../engine/door/door.ts'
import { notFound } from '../http/replies.ts'
import { idempotencyKey, ifMatch, keyIn, onceFor, pageOf, versionIn } from '../http/requests.ts'
import { type Answer, route } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/shapes.ts'
import { known } from './sessions.ts'

const ofSession = z.object({ session_id: s.id })
export const ofTask = ofSession.extend({ task_id: s.id })

export const taskRoutes = [
  route({
    method: 'get',
    path: '/api/sessions/:session_id/tasks',
    operationId: 'listTasks',
    tag: 'Tasks',
    role: 'agent',
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
    handle: async ({ params, query, caller }, { door }) => {
      const ref = { tenant: caller.tenant, conversation: params.session_id }
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
  route({
    method: 'get',
    path: '/api/tasks',
    operationId: 'searchTasks',
    tag: 'Tasks',
    role: 'agent',
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
  route({
    method: 'post',
    path: '/api/sessions/:session_id/tasks',
    operationId: 'addTask',
    tag: 'Tasks',
    role: 'person',
    summary: 'Adds a task to the running or latest turn',
    params: ofSession,
    headers: idempotencyKey,
    body: s.newTask,
    answers: { 201: { description: 'The task', schema: shape('TaskAnswer') } },
    handle: async ({ params, body, caller, header }, { door }) => {
      const at = { tenant: caller.tenant, conversation: params.session_id, once: onceFor(keyIn(header), body) }
      const id = door.newId()
      const { value } = await asOne(
        door.transact(at, transaction => {
          const create = [preparedTask(transaction.state, door, id, body)]
          const events = transaction.mustRun({ type: 'edit_tasks', by: 'person', create })
          return { task: taskOnWire(transaction.state, touched(events, id)), seq: transaction.state.seq }
        }),
      )
      return answered(value, 201)
    },
  }),
  route({
    method: 'patch',
    path: '/api/sessions/:session_id/tasks/:task_id',
    operationId: 'changeTask',
    tag: 'Tasks',
    role: 'person',
    summary: 'Changes a task',
    params: ofTask,
    headers: ifMatch,
    body: s.taskPatch,
    answers: {
      200: { description: 'The task', schema: shape('TaskAnswer') },
      412: { description: 'The task was changed meanwhile: `error.task` is its current state' },
      428: { description: '`If-Match` is missing' },
    },
    handle: async ({ params, body, caller, header }, { door }) => {
      const { session_id, task_id } = params
      const version = versionIn(header, 'task')
      const { conversation } = await asOne(
        door.transact({ tenant: caller.tenant, conversation: session_id }, transaction => {
          const change = preparedChanges(transaction.state, door, task_id, body, version)
          transaction.mustRun({ type: 'edit_tasks', by: 'person', change })
        }),
      )
      return answered(taskIn(conversation, task_id))
    },
  }),
  route({
    method: 'delete',
    path: '/api/sessions/:session_id/tasks/:task_id',
    operationId: 'removeTask',
    tag: 'Tasks',
    role: 'person',
    summary: 'Removes a task from the list; its history stays',
    params: ofTask,
    headers: ifMatch,
    answers: {
      200: { description: 'The removed task', schema: shape('TaskAnswer') },
      412: { description: 'The task was changed meanwhile: `error.task` is its current state' },
      428: { description: '`If-Match` is missing' },
    },
    handle: async ({ params, caller, header }, { door }) => {
      const { session_id, task_id } = params
      const remove = [{ task: task_id, if_version: versionIn(header, 'task') }]
      const ref = { tenant: caller.tenant, conversation: session_id }
      const { value } = await asOne(
        door.transact(ref, transaction => {
          const before = transaction.state
          const events = transaction.mustRun({ type: 'edit_tasks', by: 'person', remove })
          return { task: taskOnWire(before, touched(events, task_id)), seq: transaction.state.seq }
        }),
      )
      return answered(value)
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/:session_id/tasks/:task_id/insist',
    operationId: 'insistOnTask',
    tag: 'Tasks',
    role: 'person',
    summary: 'Has a disputed task done as it is asked; to change what it asks for, or to settle it, change the task',
    params: ofTask,
    body: s.insistence,
    answers: {
      200: { description: 'The task, which is open again', schema: shape('InsistAnswer') },
      409: { description: '`not_disputed`' },
    },
    handle: async ({ params, body, caller }, { door, turns }) => {
      const ref = { tenant: caller.tenant, conversation: params.session_id }
      const made = await insist(door, ref, params.task_id, body.comment)
      if (made.turn_id !== undefined) turns?.take(ref, made.turn_id)
      return answered(made)
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/:session_id/tasks/:task_id/undo',
    operationId: 'undoTaskChange',
    tag: 'Tasks',
    role: 'person',
    summary: "Takes back a person's change to a task: an edit, a move, a cancellation, a removal or a new task",
    params: ofTask,
    body: s.undoneVersion,
    answers: {
      200: { description: 'The task; undoing the version that it has now is a redo', schema: shape('TaskAnswer') },
      409: {
        description: '`not_undoable`: `error.because` says why, `error.fields` what has changed since',
      },
    },
    handle: async ({ params, body, caller }, { door }) => {
      const ref = { tenant: caller.tenant, conversation: params.session_id }
      return answered(await asOne(undoChange(door, ref, params.task_id, body.version)))
    },
  }),
]

export function taskIn(conversation: Conversation, id: string): TaskAnswer {
  const task = conversation.tasks.get(id)
  if (!task) throw new TypeError('the changed task does not exist')
  return { task: taskOnWire(conversation, task), seq: conversation.seq }
}

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

function touched(events: readonly StoredEvent[], id: string): Task {
  const event = events.findLast(({ data }) => 'task' in data && data.task.id === id)
  if (!event || !('task' in event.data)) throw new TypeError('the commit does not contain the task')
  return event.data.task
}

/** Drops the row number from a refusal: a single task has no rows. */
export async function asOne<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Refusal ? error.at(undefined) : error
  }
}
