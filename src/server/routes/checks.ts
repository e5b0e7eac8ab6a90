import * as z from 'zod'
import type { CommandOf } from '../../core/model/command.ts'
import { assertRunnable, type Door, type Ref, taskAnswer, withoutRow } from '../../engine/door/door.ts'
import { type Answer, route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/shapes.ts'
import { answered, ofTask } from './tasks.ts'

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
