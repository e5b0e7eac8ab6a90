import * as z from 'zod'
import { emptyConversation, type Conversation } from '../../core/model/conversation.ts'
import { needsState, taskOnWire } from '../../core/proof/standing.ts'
import type { Task } from '../../core/model/task.ts'
import type {
  EvidenceAdded,
  EvidenceAnswer,
  FoundTasksAnswer,
  TaskAnswer,
  TaskView,
  TasksAnswer,
} from '../../core/views/wire.ts'
import {
  addEvidence,
  addTask,
  assertRunnable,
  changeTask,
  evidenceOf,
  insist,
  removeTask,
  taskAnswer,
  taskPage,
  undoChange,
  withoutRow,
  type Door,
  type Ref,
} from '../../engine/door/door.ts'
import { notFound } from '../http/replies.ts'
import { idempotencyKey, ifMatch, keyIn, onceFor, pageOf, versionIn } from '../http/requests.ts'
import { route, routes, type Answer } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'
import { known } from './sessions.ts'
import type { CommandOf } from '../../core/model/command.ts'

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

const ofCheck = ofTask.extend({ check_id: s.id })
const answers = { 200: { description: 'The task', schema: shape('TaskAnswer') } }

export const checkRoutes = routes('Tasks', {
  runCheck: route('post', '/api/sessions/:session_id/tasks/:task_id/checks/:check_id/run', 'person', {
    summary: 'Asks for a run of an approved check; its result comes with the events',
    params: ofCheck,
    answers: {
      ...answers,
      409: {
        description:
          '`check_not_runnable`: a person ticks it, it is not approved, or it has no workspace, or one whose folder is gone',
      },
    },
    handle: async ({ ref, params: { task_id: task, check_id } }, { door }) => {
      assertRunnable(await door.read(ref), door, { task, check_id })
      return onTask(door, ref, { type: 'request_check', task, check_id })
    },
  }),
  stopCheck: route('post', '/api/sessions/:session_id/tasks/:task_id/checks/:check_id/stop', 'person', {
    summary: 'Stops the run of a check, if one is under way',
    params: ofCheck,
    answers,
    handle: ({ ref, params: { task_id: task, check_id } }, { door }) =>
      onTask(door, ref, { type: 'stop_check', task, check_id }),
  }),
  tickCheck: route('post', '/api/sessions/:session_id/tasks/:task_id/checks/:check_id/tick', 'person', {
    summary: 'Ticks a check of the kind `person`',
    params: ofCheck,
    answers,
    handle: ({ ref, params: { task_id: task, check_id } }, { door }) =>
      onTask(door, ref, { type: 'tick_check', task, check_id }),
  }),
  acceptChanges: route('post', '/api/sessions/:session_id/tasks/:task_id/changes/accept', 'person', {
    summary: 'Accepts changes outside the scope, so that the checks of the task prove something again',
    params: ofTask,
    body: z.strictObject({
      paths: s.described(z.array(z.string()), 'the paths in `changes` of its checks'),
    }),
    answers,
    handle: ({ ref, params, body }, { door }) =>
      onTask(door, ref, { type: 'accept_changes', task: params.task_id, paths: body.paths }),
  }),
})

async function onTask(door: Door, ref: Ref, command: TaskCommand): Promise<Answer> {
  const { conversation } = await withoutRow(door.run(ref, command))
  return answered(taskAnswer(conversation, command.task))
}

type TaskCommand = CommandOf<'request_check' | 'stop_check' | 'tick_check' | 'accept_changes'>

export const evidenceRoutes = routes('Tasks', {
  addEvidence: route('post', '/api/sessions/:session_id/evidence', 'agent', {
    summary: 'Reports a tool call of an external agent, for the task in progress',
    params: z.object({ session_id: s.id }),
    body: s.sentEvidence,
    answers: {
      200: { description: 'Whether it was stored, and for which task', schema: shape('EvidenceAdded') },
      409: { description: '`turn_running`: a turn of this server has its own evidence' },
    },
    handle: async ({ ref, body: { task_id: task, ...call } }, { door, redact }) => {
      await known(door, ref)
      const added = await addEvidence(door, ref, { ...call, task }, { source: 'agent', redact })
      return { body: added satisfies EvidenceAdded }
    },
  }),
  getEvidence: route('get', '/api/sessions/:session_id/tasks/:task_id/evidence', 'agent', {
    summary: 'The verdicts on a task, what was claimed, and the tool calls that tell most',
    params: ofTask,
    answers: { 200: { description: 'Each list in log order', schema: shape('EvidenceAnswer') } },
    handle: async ({ params, ref }, { door }) => {
      await known(door, ref)
      const found = await evidenceOf(door, ref, params.task_id)
      if (!found) throw notFound('task_not_found', `There is no task ${params.task_id}.`)
      return { body: found satisfies EvidenceAnswer }
    },
  }),
})
