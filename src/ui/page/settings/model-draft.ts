import type { SettingsChange, SettingsView } from 'runsheet/client'

export const PROVIDER_NAMES = ['openai', 'anthropic', 'google', 'demo', 'openai-compatible'] as const
export type ProviderName = (typeof PROVIDER_NAMES)[number]

interface ProviderFacts {
  readonly example: string
  /** URL where a person gets a key. */
  readonly keys?: string
  /** Environment variable of the key. */
  readonly variable?: string
}

export const PROVIDERS: Readonly<Record<ProviderName, ProviderFacts>> = {
  demo: { example: '' },
  openai: { example: 'gpt-5', keys: 'https://platform.openai.com/api-keys', variable: 'OPENAI_API_KEY' },
  anthropic: {
    example: 'claude-sonnet-4-5',
    keys: 'https://console.anthropic.com/settings/keys',
    variable: 'ANTHROPIC_API_KEY',
  },
  google: {
    example: 'gemini-2.5-pro',
    keys: 'https://aistudio.google.com/apikey',
    variable: 'GOOGLE_GENERATIVE_AI_API_KEY',
  },
  'openai-compatible': { example: 'llama3.3' },
}

/** OpenAI-compatible servers with their usual base URLs. */
export const SERVERS: readonly (readonly [name: string, url: string])[] = [
  ['Ollama', 'http://127.0.0.1:11434/v1'],
  ['LM Studio', 'http://127.0.0.1:1234/v1'],
  ['vLLM', 'http://127.0.0.1:8000/v1'],
  ['OpenRouter', 'https://openrouter.ai/api/v1'],
]

export interface ModelDraft {
  readonly provider: ProviderName
  readonly name: string
  readonly url: string
  readonly key: string
  readonly hasJudge: boolean
  readonly judgeProvider: ProviderName
  readonly judgeName: string
}
export type ModelEdits = Partial<ModelDraft>

export function draftOf({ model, base_url, assessor_model }: SettingsView, edits: ModelEdits): ModelDraft {
  const [provider, name] = splitModel(model.value)
  const [judgeProvider, judgeName] = assessor_model.value === null ? [provider, ''] : splitModel(assessor_model.value)
  const saved = { provider, name, url: base_url.value ?? '', key: '', hasJudge: assessor_model.value !== null }
  return { ...saved, judgeProvider, judgeName, ...edits }
}

export function withProvider(settings: SettingsView, edits: ModelEdits, provider: ProviderName): ModelEdits {
  const { name: _name, url: _url, key: _key, ...rest } = edits
  const saved = draftOf(settings, {})
  if (provider === saved.provider) return { ...rest, provider }
  return { ...rest, provider, name: '', url: '' }
}

export function changeOf(settings: SettingsView, draft: ModelDraft): SettingsChange | undefined {
  const { model, base_url, key, assessor_model } = settings
  const set: { -readonly [K in 'model' | 'base_url' | 'key' | 'assessor_model']?: string } = {}
  const unset: ('base_url' | 'assessor_model')[] = []
  const chosen = modelOf(draft.provider, draft.name)
  if (!model.locked_by && chosen !== model.value) set.model = chosen
  // The demo has no address: keep the saved one for the next model.
  if (!base_url.locked_by && draft.provider !== 'demo') {
    const url = draft.url.trim()
    if (url === '' && base_url.value !== null) unset.push('base_url')
    if (url !== '' && url !== base_url.value) set.base_url = url
  }
  if (!key.locked_by && draft.key !== '' && draft.provider !== 'demo') set.key = draft.key.trim()
  if (!assessor_model.locked_by) {
    const judge = draft.hasJudge ? modelOf(draft.judgeProvider, draft.judgeName) : null
    if (judge === null && assessor_model.value !== null) unset.push('assessor_model')
    if (judge !== null && judge !== assessor_model.value) set.assessor_model = judge
  }
  if (Object.keys(set).length + unset.length === 0) return undefined
  return { ...set, ...(unset.length > 0 ? { unset } : {}) }
}

/** A key belongs to one endpoint. */
export const endpointOf = ({ provider, url }: Pick<ModelDraft, 'provider' | 'url'>): string => url.trim() || provider

/** True if saving erases the saved key because it belongs to another endpoint. */
export function erasesKey(settings: SettingsView, draft: ModelDraft): boolean {
  const { is_set, source } = settings.key
  if (!is_set || source !== 'page' || draft.key !== '' || draft.provider === 'demo') return false
  return endpointOf(draft) !== endpointOf(draftOf(settings, {}))
}

const modelOf = (provider: ProviderName, name: string): string =>
  provider === 'demo' ? provider : `${provider}:${name.trim()}`

function splitModel(model: string): readonly [ProviderName, string] {
  const at = model.indexOf(':')
  const provider = PROVIDER_NAMES.find(each => each === (at < 0 ? model : model.slice(0, at)))
  // An option can set a provider that the page does not know.
  return provider === undefined ? ['openai-compatible', model] : [provider, at < 0 ? '' : model.slice(at + 1)]
}
