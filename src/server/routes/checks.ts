import * as z from 'zod'
import type { Command } from '../../core/model/command.ts'
import { assertRunnable, type Door } from '../../engine/door/door.ts'
import type { Caller } from '../http/access.ts'
import { type Answer, route } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/shapes.ts'
import { answered, asOne, ofTask, taskIn } from './tasks.ts'

const ofCheck = ofTask.extend({ check_id: s.id })
const answers = { 200: { description: 'The task', schema: shape('TaskAnswer') } }

export const checkRoutes = [
  route({
    method: 'post',
    path: '/api/sessions/:session_id/tasks/:task_id/checks/:check_id/run',
    operationId: 'runCheck',
    tag: 'Tasks',
    role: 'person',
    summary: 'Asks for a run of an approved check; its result comes with the events',
    params: ofCheck,
    answers: {
      ...answers,
      409: {
        description:
          '`check_not_runnable`: a person ticks it, it is not approved, or it has no workspace, or one whose folder is gone',
      },
    },
    handle: async ({ params, caller }, { door }) => {
      const { session_id: conversation, task_id: task, check_id } = params
      assertRunnable(await door.read({ tenant: caller.tenant, conversation }), door, { task, check_id })
      return onCheck('request_check', params, caller, door)
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/:session_id/tasks/:task_id/checks/:check_id/stop',
    operationId: 'stopCheck',
    tag: 'Tasks',
    role: 'person',
    summary: 'Stops the run of a check, if one is under way',
    params: ofCheck,
    answers,
    handle: ({ params, caller }, { door }) => onCheck('stop_check', params, caller, door),
  }),
  route({
    method: 'post',
    path: '/api/sessions/:session_id/tasks/:task_id/checks/:check_id/tick',
    operationId: 'tickCheck',
    tag: 'Tasks',
    role: 'person',
    summary: 'Ticks a check of the kind `person`',
    params: ofCheck,
    answers,
    handle: ({ params, caller }, { door }) => onCheck('tick_check', params, caller, door),
  }),
  route({
    method: 'post',
    path: '/api/sessions/:session_id/tasks/:task_id/changes/accept',
    operationId: 'acceptChanges',
    tag: 'Tasks',
    role: 'person',
    summary: 'Accepts changes outside the scope, so that the checks of the task prove something again',
    params: ofTask,
    body: z.strictObject({
      paths: s.described(z.array(z.string()), 'the paths in `changes` of its checks'),
    }),
    answers,
    handle: ({ params, body, caller }, { door }) =>
      onTask({ type: 'accept_changes', task: params.task_id, paths: body.paths }, params, caller, door),
  }),
]

type OfTask = z.infer<typeof ofTask>

const onCheck = (
  type: 'request_check' | 'stop_check' | 'tick_check',
  params: z.infer<typeof ofCheck>,
  caller: Caller,
  door: Door,
): Promise<Answer> => onTask({ type, task: params.task_id, check_id: params.check_id }, params, caller, door)

async function onTask(command: Command, { session_id, task_id }: OfTask, caller: Caller, door: Door): Promise<Answer> {
  const ref = { tenant: caller.tenant, conversation: session_id }
  const { conversation } = await asOne(door.run(ref, command))
  return answered(taskIn(conversation, task_id))
}
