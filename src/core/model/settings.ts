import { defined } from './defined.ts'
import { policyProblem, policyWith, type Policy, type PolicyPatch, type ToolsetName } from './policy.ts'
import { Refusal, invalidField } from './refusal.ts'
import type { SavedRules } from './tool-approval.ts'
import type { KeyView, SettingName, SettingView, SettingsChange, SettingsView } from '../views/wire.ts'

// The settings of a server and the precedence of their sources: flag, environment, page, trusted file, default.

/** A setting that an option or a variable fixes. */
export interface Fixed<T> {
  readonly value: T
  readonly source: 'flag' | 'environment'
  /** The option or variable. */
  readonly by: string
}

/** The settings that options and variables fix. */
export interface FixedSettings {
  readonly model?: Fixed<string>
  readonly base_url?: Fixed<string>
  readonly key?: Fixed<string>
  readonly assessor_model?: Fixed<string>
  readonly review?: Fixed<boolean>
  readonly toolset?: Fixed<ToolsetName>
}

/**
 * A key and the only endpoint that it is sent to: a base URL, or the provider's name for the provider's own endpoint.
 */
export interface SavedKey {
  readonly value: string
  readonly endpoint: string
}

/** The settings saved from the page. */
export interface SavedSettings {
  readonly model?: string
  readonly base_url?: string
  readonly key?: SavedKey
  readonly assessor_model?: string
  readonly review?: boolean
  readonly review_timeout_ms?: number | null
  readonly gate?: boolean
  /** A person's rules for tools. */
  readonly tools?: SavedRules
}

/** The sources of the settings. */
export interface SettingsSources {
  readonly fixed: FixedSettings
  readonly saved: SavedSettings
  /** The policy of the settings files that count. */
  readonly file: PolicyPatch
  /** Provider to the variable with its key, for variables that are set. */
  readonly variables: Readonly<Record<string, string>>
}

/** The connection to a model. */
export interface Connection {
  readonly url?: string
  readonly key?: string
  /** True if the key may come from the provider's own variable. That key is never sent to a URL set on the page. */
  readonly mayUseVariable: boolean
  /** True if options or variables give URL and key. */
  readonly isLocked: boolean
  /**
   * True if the page chose the model or its connection. Then turns record the endpoint, and a server starts without it.
   */
  readonly isOfPage: boolean
}

export const DEMO = 'demo'
export const PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible'] as const
export type Provider = (typeof PROVIDERS)[number]

/** Shorter keys cannot be redacted from texts. */
const MIN_KEY = 8
const MAX_KEY = 500
const MAX_URL = 2_000
/** The last characters of a shorter key would reveal too much of it. */
const MIN_SHOWN_KEY = 20

const POLICY_FIELDS = ['review', 'review_timeout_ms', 'gate'] as const

/** The provider in the name of a model; `demo` is its own. */
export const providerOf = (model: string): string => model.split(':')[0] ?? ''

export const modelOf = ({ fixed, saved }: SettingsSources): string => fixed.model?.value ?? saved.model ?? DEMO

/** The name of the judge's model; undefined: the same as the worker's. */
export const assessorOf = ({ fixed, saved }: SettingsSources): string | undefined =>
  fixed.assessor_model?.value ?? saved.assessor_model

/** The policy of new conversations, over the toolset's defaults. */
export function policyOf({ fixed, saved, file }: SettingsSources): PolicyPatch {
  const { review, review_timeout_ms, gate } = saved
  return {
    ...file,
    ...defined({ review, review_timeout_ms, gate }),
    ...(fixed.review && { review: fixed.review.value }),
    ...(fixed.toolset && { toolset: fixed.toolset.value }),
  }
}

/**
 * The connection to a model. URL and key come from one source, so that a key never reaches an address that it was not
 * given for: those of options and variables go together, and the page's key goes to one endpoint.
 */
export function connectionOf({ fixed, saved }: SettingsSources, model: string): Connection {
  const { base_url: url, key } = fixed
  const chosen = [fixed.model ? undefined : saved.model, fixed.assessor_model ? undefined : saved.assessor_model]
  const isChosen = model !== DEMO && chosen.includes(model)
  if (url || key) {
    return {
      ...defined({ url: url?.value, key: key?.value }),
      mayUseVariable: true,
      isLocked: true,
      isOfPage: isChosen,
    }
  }
  const endpoint = endpointOf(model, saved.base_url)
  const own = defined({ url: saved.base_url, key: saved.key?.endpoint === endpoint ? saved.key.value : undefined })
  const isReachedByPage = model !== DEMO && Object.keys(own).length > 0
  return { ...own, mayUseVariable: !own.url, isLocked: false, isOfPage: isChosen || isReachedByPage }
}

export function lockOf({ base_url, key, ...fixed }: FixedSettings, name: SettingName): Fixed<unknown> | undefined {
  if (name === 'base_url') return base_url ?? key
  if (name === 'key') return key ?? base_url
  return name in fixed ? fixed[name as keyof typeof fixed] : undefined
}

/** The settings as a person may see them: without the key. */
export function viewOf(sources: SettingsSources): SettingsView {
  const { fixed, saved, file } = sources
  const policy = policyWith(null, policyOf(sources), {})
  // Each source was validated on its own before.
  if (policy instanceof Refusal) throw policy
  const ofPolicy = <K extends (typeof POLICY_FIELDS)[number]>(name: K): SettingView<Policy[K]> => {
    const given = name === 'review' ? fixed.review : undefined
    const source = saved[name] !== undefined ? 'page' : file[name] !== undefined ? 'file' : 'default'
    return shown(policy[name], given, source, saved[name] as Policy[K] | undefined)
  }
  const text = <T extends string | null>(name: 'model' | 'base_url' | 'assessor_model', usual: T) => {
    const lock = lockOf(fixed, name)
    const value = lock ? fixed[name]?.value : saved[name]
    return shown<string | T>(value ?? usual, lock, saved[name] === undefined ? 'default' : 'page', saved[name])
  }
  return {
    model: text('model', DEMO),
    base_url: text('base_url', null),
    key: keyView(sources),
    assessor_model: text('assessor_model', null),
    toolset: shown(policy.toolset, fixed.toolset, file.toolset === undefined ? 'default' : 'file', undefined),
    review: ofPolicy('review'),
    review_timeout_ms: ofPolicy('review_timeout_ms'),
    gate: ofPolicy('gate'),
  }
}

/**
 * The saved settings after a change, or a refusal. A key given for another endpoint is erased, so that changing the URL
 * cannot leak it.
 */
export function changedSettings(sources: SettingsSources, change: SettingsChange): SavedSettings | Refusal {
  const { unset = [], key, ...values } = change
  const set = defined(values)
  const named = [...Object.keys(set), ...(key === undefined ? [] : ['key'])] as SettingName[]
  for (const field of [...named, ...unset]) {
    const lock = lockOf(sources.fixed, field)
    if (lock) return new Refusal('setting_locked', { field, by: lock.by })
  }
  const both = unset.find(field => named.includes(field))
  if (both) return invalidField('unset', { rule: 'invalid', expected: `without ${both}, which is set` })
  const problem = problemWith(change, sources)
  if (problem) return problem
  const { key: before, ...saved } = {
    ...sources.saved,
    ...set,
    ...(set.base_url && { base_url: trimmed(set.base_url) }),
  }
  const kept = Object.fromEntries(Object.entries(saved).filter(([field]) => !unset.includes(field as SettingName)))
  const user = keyUserOf({ ...sources, saved: kept })
  const endpoint = endpointOf(user, kept['base_url'] as string | undefined)
  if (key !== undefined && endpoint === DEMO) return invalidField('key', { rule: 'invalid', expected: KEY_USER })
  if (key !== undefined) return { ...kept, key: { value: key, endpoint } }
  // The demo sends the key nowhere, so switching to it for a while keeps the key.
  const isElsewhere = before?.endpoint !== endpoint && (user !== DEMO || kept['base_url'] !== sources.saved.base_url)
  return unset.includes('key') || isElsewhere || !before ? kept : { ...kept, key: before }
}

function keyUserOf(sources: SettingsSources): string {
  const model = modelOf(sources)
  return model === DEMO ? (assessorOf(sources) ?? DEMO) : model
}

/** The endpoint that a key is for: a base URL, else the provider's name. */
const endpointOf = (model: string, url: string | undefined): string => url ?? providerOf(model)

function problemWith(change: SettingsChange, { file }: SettingsSources): Refusal | undefined {
  const { base_url, key, review, review_timeout_ms, gate } = change
  for (const field of ['model', 'assessor_model'] as const) {
    const name = change[field]
    if (name !== undefined && !MODEL.test(name)) return invalidField(field, { rule: 'invalid', expected: MODELS })
  }
  if (base_url !== undefined && !isBaseUrl(base_url)) {
    return invalidField('base_url', { rule: 'invalid', expected: BASE_URL })
  }
  if (key !== undefined && !KEY.test(key)) return invalidField('key', { rule: 'invalid', expected: KEYS })
  return policyProblem({ ...file, ...defined({ review, review_timeout_ms, gate }) })
}

const MODEL = new RegExp(`^(?:${DEMO}|(?:${PROVIDERS.join('|')}):[\\w.:@/+-]{1,200})$`)
const MODELS = `demo, or ${PROVIDERS.map(each => `${each}:NAME`).join(', ')}`
const KEY = new RegExp(`^[\\x21-\\x7e]{${MIN_KEY},${MAX_KEY}}$`)
const KEYS = `${MIN_KEY} to ${MAX_KEY} printable ASCII characters without spaces`
const KEY_USER = 'entered with the model that it is for, or after it: the demo model needs none'
const BASE_URL = 'an http or https URL without a name, a password, a query or a fragment'

/** Refuses URLs that could contain a secret: the key has its own field. */
export function isBaseUrl(text: string): boolean {
  if (text.length > MAX_URL || !URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every(part => part === '')
}

/** Normalizes URLs, because the endpoint of a key is compared with them. */
const trimmed = (url: string): string => new URL(url).href.replace(/\/+$/, '')

function shown<T>(
  value: T,
  lock: Fixed<unknown> | undefined,
  source: SettingView<T>['source'],
  saved: T | undefined,
): SettingView<T> {
  if (!lock) return { value, source }
  return { value, source: lock.source, locked_by: lock.by, ...(saved === undefined ? {} : { saved }) }
}

function keyView(sources: SettingsSources): KeyView {
  const { fixed, variables } = sources
  const model = keyUserOf(sources)
  const { key, mayUseVariable } = connectionOf(sources, model)
  const lock = lockOf(fixed, 'key')
  const locked = lock ? { locked_by: lock.by } : {}
  if (key !== undefined && lock) return { is_set: true, source: lock.source, ...locked }
  if (key !== undefined) {
    return { is_set: true, source: 'page', ...(key.length < MIN_SHOWN_KEY ? {} : { ends_with: key.slice(-4) }) }
  }
  const variable = mayUseVariable ? variables[providerOf(model)] : undefined
  if (variable !== undefined) return { is_set: true, source: 'environment', variable, ...locked }
  return { is_set: false, source: lock?.source ?? 'default', ...locked }
}
