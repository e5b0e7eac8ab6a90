import * as z from 'zod'
import { HttpError } from '../http/replies.ts'
import { route, routes } from '../http/route.ts'

export const loginRoutes = routes('Login', {
  redeemLoginCode: route('post', '/api/login', 'none', {
    needs: 'login',
    summary: 'Trades the single-use code of a sign-in link for a token of the page, which may do what a person may',
    body: z.strictObject({ code: z.string().min(1).max(200) }),
    answers: { 200: { description: 'The token', schema: z.object({ token: z.string() }) } },
    handle: async ({ body }, { login }) => {
      const token = login.redeem(body.code)
      if (token !== undefined) return { body: { token } }
      const message =
        'This link has expired or was already used. Get a new one with the command that the server printed.'
      throw new HttpError(401, 'invalid_code', message)
    },
  }),
  createLoginCode: route('post', '/api/login/codes', 'person', {
    needs: 'login',
    summary: 'Issues a single-use code for a sign-in link',
    answers: { 201: { description: 'The code', schema: z.object({ code: z.string() }) } },
    handle: async (_, { login }) => ({ status: 201, body: { code: login.issue() } }),
  }),
})
