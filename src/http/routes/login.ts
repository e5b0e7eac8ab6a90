import * as z from 'zod'
import { HttpError } from '../errors.ts'
import { route } from '../route.ts'

export const loginRoutes = [
  route({
    method: 'post',
    path: '/api/login',
    operationId: 'redeemLoginCode',
    tag: 'Login',
    role: 'nobody',
    summary: "Trades the single-use code of the start's URL for the person's token",
    body: z.strictObject({ code: z.string().min(1).max(200) }),
    answers: { 200: { description: 'The token', schema: z.object({ token: z.string() }) } },
    handle: async ({ body }, { codes, tokens }) => {
      if (!codes.redeem(body.code)) {
        throw new HttpError(
          401,
          'invalid_code',
          'This link was used already or is too old. Get a fresh one with the command that the start names.',
        )
      }
      return { body: { token: tokens.person } }
    },
  }),
  route({
    method: 'post',
    path: '/api/login/codes',
    operationId: 'createLoginCode',
    tag: 'Login',
    role: 'person',
    summary: 'A fresh single-use code, as `runsheet url` prints it',
    answers: { 201: { description: 'The code', schema: z.object({ code: z.string() }) } },
    handle: async (_, { codes }) => ({ status: 201, body: { code: codes.issue() } }),
  }),
]
