import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModel } from 'ai'
import { demoModel } from './demo/model.ts'
import { UnknownModel } from './failure.ts'
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

const PROVIDERS: Readonly<Record<string, (name: string, settings: ModelSettings) => LanguageModel>> = {
  openai: (name, settings) => createOpenAI(overrides(settings)).chat(name),
  anthropic: (name, settings) => createAnthropic(overrides(settings))(name),
  google: (name, settings) => createGoogleGenerativeAI(overrides(settings))(name),
  'openai-compatible': (name, { url, key }) => {
    if (!url) throw new UnknownModel('openai-compatible needs a URL: set RUNSHEET_MODEL_URL.')
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

/** The configured models. Throws at once if a setting is invalid. */
export function configuredModels(settings: ModelSettings): Models {
  const assessor = settings.assessor ?? settings.model
  const made = new Map([settings.model, assessor].map(name => [name, modelFor(name, settings)]))
  // At another URL may be anything that speaks the same protocol.
  const isStructured = (name: string): boolean => !settings.url && STRUCTURED.has(providerOf(name))
  return givenModels(made, settings.model, assessor, isStructured)
}

function modelFor(name: string, settings: ModelSettings): LanguageModel {
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
