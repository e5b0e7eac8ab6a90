import * as z from 'zod'
import { HttpError } from '../errors.ts'
import { route } from '../route.ts'

/** A probe must not hang longer than whoever asks. */
const PATIENCE_MS = 2_000

const ok = z.object({ status: z.literal('ok') })

export const probeRoutes = [
  route({
    method: 'get',
    path: '/healthz',
    operationId: 'checkHealth',
    tag: 'Operation',
    role: 'nobody',
    public: true,
    summary: 'Whether the process answers',
    answers: { 200: { description: 'It does', schema: ok } },
    handle: async () => ({ body: { status: 'ok' } }),
  }),
  route({
    method: 'get',
    path: '/readyz',
    operationId: 'checkReadiness',
    tag: 'Operation',
    role: 'nobody',
    public: true,
    summary: 'Whether it can serve: storage answers, and it is not about to end',
    answers: { 200: { description: 'It can', schema: ok }, 503: { description: 'It cannot' } },
    handle: async (_, { door, closing }) => {
      if (closing.aborted) throw notReady('It is about to end.')
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(() => late.reject(new Error('late')), PATIENCE_MS)
      try {
        await Promise.race([door.ready(), late.promise])
      } catch {
        // Whatever it is, it is in the log of those who needed an answer.
        throw notReady('Storage does not answer.')
      } finally {
        clearTimeout(timer)
      }
      return { body: { status: 'ok' } }
    },
  }),
  route({
    method: 'get',
    path: '/metrics',
    operationId: 'readMetrics',
    tag: 'Operation',
    role: 'nobody',
    public: true,
    summary: 'Figures for Prometheus',
    answers: { 200: { description: 'In its text format', type: 'text/plain' } },
    handle: async (_, { metrics }) => ({
      text: await metrics.text(),
      headers: { 'content-type': metrics.contentType },
    }),
  }),
]

const notReady = (message: string): HttpError => new HttpError(503, 'not_ready', message)
