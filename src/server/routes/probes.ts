import * as z from 'zod'
import { StoreError } from '../../engine/door/door.ts'
import { HttpError } from '../http/replies.ts'
import { route, routes } from '../http/route.ts'

/** Shorter than the timeouts of common probes. */
const STORAGE_TIMEOUT_MS = 2_000

const ok = z.object({ status: z.literal('ok') })

export const probeRoutes = routes('Operation', {
  checkHealth: route('get', '/healthz', 'none', {
    public: true,
    summary: 'Whether the process answers',
    answers: { 200: { description: 'Healthy', schema: ok } },
    handle: async () => ({ body: { status: 'ok' } }),
  }),
  checkReadiness: route('get', '/readyz', 'none', {
    public: true,
    summary: 'Whether storage can be written to and the server is not shutting down',
    answers: { 200: { description: 'Ready', schema: ok }, 503: { description: 'Not ready' } },
    handle: async (_, { door, closing }) => {
      if (closing.aborted) throw notReady('The server is shutting down.')
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(() => late.reject(new Error('late')), STORAGE_TIMEOUT_MS)
      try {
        await Promise.race([door.ready(), late.promise])
      } catch (error) {
        throw notReady(error instanceof StoreError ? error.message : 'Storage does not answer.')
      } finally {
        clearTimeout(timer)
      }
      return { body: { status: 'ok' } }
    },
  }),
  readMetrics: route('get', '/metrics', 'none', {
    public: true,
    needs: 'metrics',
    summary: 'Metrics for Prometheus',
    answers: { 200: { description: 'The text format of Prometheus', type: 'text/plain' } },
    handle: async (_, { metrics }) => ({
      text: await metrics.text(),
      headers: { 'content-type': metrics.contentType },
    }),
  }),
})

const notReady = (message: string): HttpError => new HttpError(503, 'not_ready', message)
