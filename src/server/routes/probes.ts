import * as z from 'zod'
import { StoreError } from '../../engine/door/door.ts'
import { HttpError } from '../http/replies.ts'
import { route, routes, type Answer } from '../http/route.ts'
import type { SettingsAnswer } from '../../core/views/wire.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'

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

export const settingsRoutes = routes('Settings', {
  getSettings: route('get', '/api/settings', 'person', {
    needs: 'settings',
    summary: 'The settings as they count now, and where each comes from',
    answers: { 200: { description: 'The settings, without the key', schema: shape('Settings') } },
    handle: async (_, { settings: part }) => answered(part.view()),
  }),
  changeSettings: route('patch', '/api/settings', 'person', {
    needs: 'settings',
    summary: 'Changes what is named, for new turns and new conversations',
    headers: z.object({ 'if-match': z.string().meta({ description: 'the version that the change is based on' }) }),
    body: s.settingsChange,
    answers: {
      200: { description: 'The settings after it, with their version as `ETag`', schema: shape('Settings') },
      409: { description: '`setting_locked`, `settings_unreadable`' },
      412: { description: '`settings_changed`: they are at another version' },
      428: { description: '`If-Match` is missing' },
      503: { description: '`settings_not_saved`: nothing was changed' },
    },
    handle: async ({ body, header }, { settings: part }) => answered(part.change(versionIn(header('if-match')), body)),
  }),
  trySettings: route('post', '/api/settings/try', 'person', {
    needs: 'settings',
    summary: 'Makes one small call to a configured model',
    body: s.triedModel,
    answers: {
      200: { description: 'Whether it answered; if not, why and what to do', schema: shape('TriedModel') },
      429: { description: 'Tried too often; see `Retry-After`' },
    },
    handle: async ({ body, signal }, { settings: part, closing }) => ({
      body: await part.try(body.which, AbortSignal.any([signal, closing])),
    }),
  }),
})

const answered = (body: SettingsAnswer): Answer => ({ body, headers: { etag: `"${body.version}"` } })

function versionIn(header = ''): string {
  const [, version] = /^\s*"?([\w-]{1,100})"?\s*$/.exec(header) ?? []
  if (version !== undefined) return version
  throw new HttpError(
    428,
    'version_required',
    'If-Match is missing. Send the version of the settings that you change.',
    {
      field: 'if-match',
    },
  )
}
