import type { LanguageModel } from 'ai'
import { demoModel } from './demo/model.ts'
import { UnknownModel } from './model-errors.ts'
import { givenModels, type Models } from './given-models.ts'
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
  /** Environment variables, where a provider's own key is looked up. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** Each is loaded only if it is used: the four take as long to load as the rest of the server. */
const PROVIDERS: Readonly<Record<string, (name: string, settings: ModelSettings) => Promise<LanguageModel>>> = {
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
    if (!url) throw new UnknownModel('openai-compatible needs a URL: set RUNSHEET_MODEL_URL.')
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    return createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: url,
      includeUsage: true,
      fetch: limitedFetch,
      ...(key ? { apiKey: key } : {}),
    })(name)
  },
}

/** Providers whose current models answer in a given JSON schema. */
const STRUCTURED: ReadonlySet<string> = new Set(['openai', 'anthropic', 'google'])

const providerOf = (name: string): string => name.split(':')[0] ?? ''

/** The configured models. Throws if a setting is invalid. */
export async function configuredModels(settings: ModelSettings): Promise<Models> {
  const assessor = settings.assessor ?? settings.model
  const made = new Map<string, LanguageModel>()
  for (const name of new Set([settings.model, assessor])) made.set(name, await modelFor(name, settings))
  // At another URL may be anything that speaks the same protocol.
  const isStructured = (name: string): boolean => !settings.url && STRUCTURED.has(providerOf(name))
  return givenModels(made, settings.model, assessor, isStructured)
}

async function modelFor(name: string, settings: ModelSettings): Promise<LanguageModel> {
  if (name === 'demo') return demoModel({ paceMs: settings.demoPaceMs ?? 0 })
  const [provider = '', ...rest] = name.split(':')
  const make = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined
  const model = rest.join(':')
  if (!make || model === '') {
    throw new UnknownModel(
      `Unknown model ${name}. Use demo, or ${Object.keys(PROVIDERS)
        .map(each => `${each}:NAME`)
        .join(', ')}.`,
    )
  }
  checkSettings(provider, settings)
  return make(model, settings)
}

/** Fails at startup instead of in the first turn. */
function checkSettings(provider: string, { url, key, environment = {} }: ModelSettings): void {
  if (url && !(URL.canParse(url) && /^https?:\/\//.test(url)))
    throw new UnknownModel('RUNSHEET_MODEL_URL must be an http or https URL.')
  const variable = PROVIDER_KEYS[provider]
  if (variable && !key && !environment[variable])
    throw new UnknownModel(`${provider} needs a key: set RUNSHEET_MODEL_KEY or ${variable}.`)
}

const overrides = ({ url, key }: ModelSettings): { fetch: typeof fetch; baseURL?: string; apiKey?: string } => ({
  fetch: limitedFetch,
  ...(url ? { baseURL: url } : {}),
  ...(key ? { apiKey: key } : {}),
})
