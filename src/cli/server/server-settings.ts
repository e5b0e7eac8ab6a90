import { lockOf, viewOf } from '../../core/model/settings.ts'
import type { Redactor } from '../../core/text/redact.ts'
import type { SettingsAnswer, SettingsProblem, SettingsView, TryAnswer } from '../../core/views/wire.ts'
import { HttpError } from '../../server/http/replies.ts'
import { Rate } from '../../server/http/limits.ts'
import type { ServerSettings } from '../../server/http/route.ts'
import type { LiveModels } from '../../models/live-models.ts'
import { modelProblem } from '../../models/models.ts'
import type { Environment } from '../environment.ts'
import type { LiveSettings } from './page-settings.ts'

interface ServerSettingsOptions {
  readonly settings: LiveSettings
  readonly models: LiveModels
  readonly environment: Environment
  readonly redact: Redactor
  readonly scope: SettingsAnswer['scope']
  /** Gets the names of changed settings, never their values. */
  readonly onChanged: (fields: readonly string[]) => void
}

/** A model call costs money and may take 15 s. */
const TRIES_PER_MINUTE = 6

export function serverSettings(options: ServerSettingsOptions): ServerSettings {
  const { settings, models, redact, scope } = options
  const rate = new Rate(TRIES_PER_MINUTE)
  const view = (): SettingsAnswer => ({
    version: settings.version,
    scope,
    settings: shownView(viewOf(settings.sources), redact),
    problems: problemsIn(options),
  })
  return {
    view,
    change: (version, change) => {
      settings.change(version, change)
      const { unset = [], ...set } = change
      options.onChanged([...Object.keys(set), ...unset])
      return view()
    },
    try: async (which, signal): Promise<TryAnswer> => {
      const waitMs = rate.count('')
      if (waitMs !== undefined) throw tooManyTries(waitMs)
      const { model, assessor } = settings.choice
      const name = which === 'assessor_model' ? (assessor ?? model) : model
      const started = performance.now()
      const { tryModel } = await import('../../models/try-model.ts')
      const failed = await tryModel(() => models.named(name, models.endpointOf(name)), { redact, signal })
      if (!failed) return { ok: true, model: name, duration_ms: Math.round(performance.now() - started) }
      const { code, message } = failed.failure
      const url = failed.url ?? settings.choice.connectionOf(name).url
      const tried = url === undefined ? {} : { url: redact.line(url) }
      return { ok: false, model: name, code, message, todo: todoFor(code, settings), ...tried }
    },
  }
}

/** A URL from the environment may contain credentials. */
const shownView = (view: SettingsView, redact: Redactor): SettingsView =>
  view.base_url.value === null || view.base_url.locked_by === undefined
    ? view
    : { ...view, base_url: { ...view.base_url, value: redact.line(view.base_url.value) } }

function problemsIn({ settings, environment }: ServerSettingsOptions): readonly SettingsProblem[] {
  const { problem, choice } = settings
  const { model, assessor = model } = choice
  const ofModels = [...new Set([model, assessor])].flatMap(name => {
    const { url, key, mayUseVariable, isLocked } = choice.connectionOf(name)
    const found = modelProblem(name, { url, key, isOnPage: !isLocked, environment: mayUseVariable ? environment : {} })
    const field = found?.field === 'model' && name !== model ? 'assessor_model' : found?.field
    return found && field ? [{ ...found, field }] : []
  })
  return [...(problem === undefined ? [] : [{ message: problem }]), ...ofModels]
}

function tooManyTries(waitMs: number): HttpError {
  const seconds = Math.ceil(waitMs / 1_000)
  const message = `A model can be tried ${TRIES_PER_MINUTE} times a minute. Try again in ${seconds} s.`
  return new HttpError(429, 'rate_limited', message, { headers: { 'retry-after': String(seconds) } })
}

/** A locked setting must be changed at its option or variable. */
function todoFor(code: string, { sources }: LiveSettings): string {
  const where = (name: 'model' | 'base_url' | 'key', what: string): string => {
    const lock = lockOf(sources.fixed, name)
    return lock ? `${lock.by} of the server` : `${what} in the settings`
  }
  const { key } = viewOf(sources)
  switch (code) {
    case 'provider_denied':
      return key.variable === undefined
        ? `Change ${where('key', 'the key')}.`
        : `Change ${key.variable} of the server, or enter a key in the settings.`
    case 'provider_unreachable':
      return `Check that the model runs, and that ${where('base_url', 'the base URL')} is right.`
    case 'provider_refused':
      return `Check ${where('model', 'the name of the model')}, and that ${where('base_url', 'the base URL')} ends as the provider says, often in /v1.`
    case 'provider_busy':
    case 'provider_failed':
      return 'Wait a moment, then try again.'
    default:
      return `Check ${where('model', 'the model')} and ${where('base_url', 'the base URL')}.`
  }
}
