import * as z from 'zod'
import { HttpError } from '../errors.ts'
import { route } from '../route.ts'
import * as s from '../schemas.ts'

export const chatRoutes = [
  route({
    method: 'post',
    path: '/api/chat',
    role: 'person',
    summary: 'Starts a turn and streams it',
    body: z.strictObject({
      session_id: s.id,
      turn_id: s.id,
      message: z.string().min(1),
      model: z.string().optional(),
      toolset: s.toolset.optional(),
      review: z.boolean().optional(),
      assessor: z.boolean().optional(),
      gate: z.boolean().optional(),
      continue_turn_id: s.id.optional(),
    }),
    answers: { 501: { description: 'This server runs no turns yet', schema: s.errorBody } },
    handle: async () => {
      throw new HttpError(501, 'not_implemented', 'This server runs no turns yet; agents elsewhere can call its tools.')
    },
  }),
]
