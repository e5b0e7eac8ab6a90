import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModel } from 'ai'
import { demoModel } from './demo/model.ts'
import { UnknownModel } from './failure.ts'
import { givenModels, type Models } from './given-models.ts'

export interface ModelSettings {
  /** `demo`, or a provider and its model's name: `openai:gpt-5`. */
  readonly model: string
  readonly assessor?: string | undefined
  /** Instead of the provider's own. */
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly demoPaceMs?: number
  /** Where a provider looks for a key of its own. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

const PROVIDERS: Readonly<Record<string, (name: string, settings: ModelSettings) => LanguageModel>> = {
  openai: (name, settings) => createOpenAI(given(settings)).chat(name),
  anthropic: (name, settings) => createAnthropic(given(settings))(name),
  google: (name, settings) => createGoogleGenerativeAI(given(settings))(name),
  'openai-compatible': (name, { url, key }) => {
    if (!url) throw new UnknownModel('openai-compatible needs a URL: set RUNSHEET_MODEL_URL.')
    return createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: url,
      includeUsage: true,
      ...(key ? { apiKey: key } : {}),
    })(name)
  },
}

/** The models that are configured; what cannot be is said at once. */
export function configuredModels(settings: ModelSettings): Models {
  const assessor = settings.assessor ?? settings.model
  const made = new Map([settings.model, assessor].map(name => [name, modelFor(name, settings)]))
  return givenModels(made, settings.model, assessor)
}

function modelFor(name: string, settings: ModelSettings): LanguageModel {
  if (name === 'demo') return demoModel({ paceMs: settings.demoPaceMs ?? 0 })
  const [provider = '', ...rest] = name.split(':')
  const make = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined
  const model = rest.join(':')
  if (!make || model === '') {
    throw new UnknownModel(
      `There is no model ${name}. Use demo, or ${Object.keys(PROVIDERS)
        .map(each => `${each}:NAME`)
        .join(', ')}.`,
    )
  }
  checkSettings(provider, settings)
  return make(model, settings)
}

/** Where a provider's own key is looked for. */
const KEYS: Readonly<Record<string, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
}

/** Said at the start, not when the first turn fails. */
function checkSettings(provider: string, { url, key, environment = {} }: ModelSettings): void {
  if (url && !(URL.canParse(url) && /^https?:\/\//.test(url)))
    throw new UnknownModel('RUNSHEET_MODEL_URL is no http or https URL.')
  const own = KEYS[provider]
  if (own && !key && !environment[own])
    throw new UnknownModel(`${provider} needs a key: set RUNSHEET_MODEL_KEY or ${own}.`)
}

const given = ({ url, key }: ModelSettings): { baseURL?: string; apiKey?: string } => ({
  ...(url ? { baseURL: url } : {}),
  ...(key ? { apiKey: key } : {}),
})
