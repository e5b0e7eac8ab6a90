import * as z from 'zod'
import type { EvidenceAdded, EvidenceAnswer } from '../../core/views/wire.ts'
import { addEvidence, evidenceOf } from '../../engine/door/door.ts'
import { notFound } from '../http/replies.ts'
import { route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/shapes.ts'
import { known } from './sessions.ts'
import { ofTask } from './tasks.ts'

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
