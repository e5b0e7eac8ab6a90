import * as z from 'zod'
import { type ToolsetName, TOOLSETS } from '../../core/model/policy.ts'
import { StoreError } from '../../engine/door/door.ts'
import { HttpError } from '../http/replies.ts'
import { route } from '../http/route.ts'
import * as s from '../http/schemas.ts'

/** Shorter than the timeouts of common probes. */
const STORAGE_TIMEOUT_MS = 2_000

const TOOLSET_NAMES = Object.keys(TOOLSETS) as ToolsetName[]

/** Limits per report: calls, and milliseconds that one call may have waited for a person. */
const MAX_REPORTED = 100
const MAX_MS = 30 * 86_400_000

/** Deliberately without any task content. */
const reportedCall = z.strictObject({
  toolset: z.enum(TOOLSET_NAMES),
  tool: s.described(z.string().max(64), 'a tool of the toolset, or `await_review`; others count as `unknown`'),
  outcome: z.enum(['ok', 'refused', 'failed']),
  items: s.described(z.int().min(0).max(1_000_000), 'the length of the list in the call'),
  duration_ms: z.int().min(0).max(MAX_MS),
})

const ok = z.object({ status: z.literal('ok') })

export const probeRoutes = [
  route({
    method: 'get',
    path: '/healthz',
    operationId: 'checkHealth',
    tag: 'Operation',
    role: 'none',
    public: true,
    summary: 'Whether the process answers',
    answers: { 200: { description: 'Healthy', schema: ok } },
    handle: async () => ({ body: { status: 'ok' } }),
  }),
  route({
    method: 'get',
    path: '/readyz',
    operationId: 'checkReadiness',
    tag: 'Operation',
    role: 'none',
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
  route({
    method: 'get',
    path: '/metrics',
    operationId: 'readMetrics',
    tag: 'Operation',
    role: 'none',
    public: true,
    needs: 'metrics',
    summary: 'Metrics for Prometheus',
    answers: { 200: { description: 'The text format of Prometheus', type: 'text/plain' } },
    handle: async (_, { metrics }) => ({
      text: await metrics.text(),
      headers: { 'content-type': metrics.contentType },
    }),
  }),
  route({
    method: 'post',
    path: '/api/metrics/calls',
    operationId: 'reportCalls',
    tag: 'Operation',
    role: 'agent',
    needs: 'metrics',
    summary: 'Counts tool calls that `runsheet mcp` answered, in the metrics',
    body: z.strictObject({ calls: z.array(reportedCall).min(1).max(MAX_REPORTED) }),
    answers: { 204: { description: 'Counted' } },
    handle: async ({ body }, { metrics }) => {
      for (const call of body.calls) metrics.reported(call)
      return { status: 204 }
    },
  }),
]

const notReady = (message: string): HttpError => new HttpError(503, 'not_ready', message)
