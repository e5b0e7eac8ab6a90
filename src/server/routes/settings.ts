import * as z from 'zod'
import type { SettingsAnswer } from '../../core/views/wire.ts'
import { HttpError } from '../http/replies.ts'
import { type Answer, route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/shapes.ts'

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
