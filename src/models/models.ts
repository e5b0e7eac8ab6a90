import type { LanguageModel } from 'ai'
import { DEMO, type Provider, PROVIDERS, providerOf } from '../core/model/settings.ts'
import type { SettingsProblem } from '../core/views/wire.ts'
import { demoModel } from '../demo/model.ts'
import { givenModels, type Models, UnknownModel } from '../engine/turn/given-models.ts'
import { limitedFetch } from './limited-fetch.ts'
import { PROVIDER_KEYS } from './provider-keys.ts'

export interface ModelSettings {
  /** `demo`, or a provider and its model's name: `openai:gpt-5`. */
  readonly model: string
  readonly assessor?: string | undefined
  /** Override the provider's own. */
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly demoPaceMs?: number
  /** Whether a person can fix it on the page. */
  readonly isOnPage?: boolean
  /** Environment variables, which may hold the provider's own key. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** Each is loaded only if used: the four take as long to load as the rest of the server. */
const MAKERS: Readonly<Record<Provider, (name: string, settings: ModelSettings) => Promise<LanguageModel>>> = {
  openai: async (name, settings) => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI(overrides(settings)).chat(name)
  },
  anthropic: async (name, settings) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic(overrides(settings))(name)
  },
  google: async (name, settings) => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return createGoogleGenerativeAI(overrides(settings))(name)
  },
  'openai-compatible': async (name, { url, key }) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    return createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: url ?? '',
      includeUsage: true,
      fetch: limitedFetch,
      ...(key ? { apiKey: key } : {}),
    })(name)
  },
}

/** Providers whose current models answer in a given JSON schema. */
const STRUCTURED: ReadonlySet<string> = new Set(['openai', 'anthropic', 'google'])

/** Throws if a setting is invalid. */
export async function configuredModels(settings: ModelSettings): Promise<Models> {
  const assessor = settings.assessor ?? settings.model
  const made = new Map<string, LanguageModel>()
  for (const name of new Set([settings.model, assessor])) made.set(name, await modelFor(name, settings))
  return givenModels(made, settings.model, assessor, name => isStructured(name, settings))
}

/**
 * Whether a model is known to answer in a given JSON schema. A custom URL may be any server that speaks the protocol.
 */
export const isStructured = (name: string, { url }: Pick<ModelSettings, 'url'>): boolean =>
  !url && STRUCTURED.has(providerOf(name))

/** Makes a model. Throws `UnknownModel` if a setting is invalid. */
export async function modelFor(name: string, settings: Omit<ModelSettings, 'model'>): Promise<LanguageModel> {
  const problem = modelProblem(name, settings)
  if (problem) throw new UnknownModel(problem.message, name)
  if (name === DEMO) return demoModel({ paceMs: settings.demoPaceMs ?? 0 })
  const provider = providerOf(name)
  return MAKERS[provider as Provider](name.slice(provider.length + 1), { ...settings, model: name })
}

/** Why a model cannot be used, known without a call: reported at start instead of in the first turn. */
export function modelProblem(
  name: string,
  { url, key, environment = {}, isOnPage = false }: Omit<ModelSettings, 'model'>,
): Required<SettingsProblem> | undefined {
  if (name === DEMO) return undefined
  const provider = providerOf(name)
  if (!(PROVIDERS as readonly string[]).includes(provider) || name.length <= provider.length + 1) {
    const names = PROVIDERS.map(each => `${each}:NAME`).join(', ')
    return { field: 'model', message: `Unknown model ${name}. Use demo, or ${names}.` }
  }
  if (url && !(URL.canParse(url) && /^https?:\/\//.test(url)))
    return { field: 'base_url', message: 'RUNSHEET_MODEL_URL must be an http or https URL.' }
  const variable = PROVIDER_KEYS[provider]
  if (variable && !key && !environment[variable]) {
    const ways = isOnPage ? inSettings(url ? undefined : variable) : `set RUNSHEET_MODEL_KEY or ${variable}.`
    return { field: 'key', message: `${provider} needs a key: ${ways}` }
  }
  if (provider === 'openai-compatible' && !url) {
    const ways = isOnPage ? inSettings() : 'set RUNSHEET_MODEL_URL.'
    return { field: 'base_url', message: `openai-compatible needs a URL: ${ways}` }
  }
  return undefined
}

const inSettings = (variable?: string): string =>
  `enter it in the settings${variable === undefined ? '.' : `, or set ${variable}.`}`

const overrides = ({ url, key }: ModelSettings): { fetch: typeof fetch; baseURL?: string; apiKey?: string } => ({
  fetch: limitedFetch,
  ...(url ? { baseURL: url } : {}),
  ...(key ? { apiKey: key } : {}),
})
