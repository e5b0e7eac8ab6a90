import { createHmac } from 'node:crypto'
import { type PolicyPatch, policyProblem } from '../domain/policy.ts'
import type { LearningRedactor } from '../domain/redact.ts'
import { Refusal } from '../domain/refusal.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import {
  assessorOf,
  changedSettings,
  connectionOf,
  type FixedSettings,
  modelOf,
  policyOf,
  type SavedSettings,
  type SettingsSources,
} from '../domain/settings.ts'
import { tightening } from '../domain/tighten.ts'
import { type RuleChange, type SavedRules, withRules } from '../domain/tool-rules.ts'
import type { SettingsChange } from '../domain/wire.ts'
import { HttpError } from '../http/replies.ts'
import type { ModelChoice } from '../runner/live-models.ts'
import { PROVIDER_KEYS } from '../runner/provider-keys.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { SETTINGS_FILE } from './default-paths.ts'
import { SettingsOnDisk, UnusableSettings } from './saved-settings.ts'

export interface LiveSettingsOptions {
  readonly data: string
  readonly fixed: FixedSettings
  readonly file: PolicyPatch
  readonly environment: Environment
  /** Learns each API key as soon as it is read. */
  readonly redact: LearningRedactor
  /** The person's token, which seals the page's settings. */
  readonly secret: string
  /**
   * `owner`: the server, the only writer; it ignores other programs' changes to the file. `follower`: applies what the
   * server writes; without the server's token it applies only stricter values, as for a project's settings.
   */
  readonly role: 'owner' | 'follower'
}

interface Current {
  readonly version: string
  readonly sources: SettingsSources
  readonly policy: PolicyPatch
  readonly choice: ModelChoice
}

/**
 * The current settings of this process, merged from options, variables, files and the page. Agents can often write
 * files, so the page's file counts only if a server with the person's token sealed it.
 */
export class LiveSettings {
  readonly #disk: SettingsOnDisk
  readonly #options: LiveSettingsOptions
  readonly #listeners = new Set<() => void>()
  #stamp: string
  #current: Current
  #problem: string | undefined

  /** Throws on an unusable file: its settings may be stricter than the others. */
  constructor(options: LiveSettingsOptions) {
    const { fixed, file } = options
    const problem = policyProblem(policyOf({ fixed, saved: {}, file, variables: {} }))
    if (problem) throw new CliError(problem.message)
    this.#options = options
    this.#disk = new SettingsOnDisk(options.data, options.secret)
    this.#stamp = this.#disk.stamp()
    try {
      this.#current = this.#load()
    } catch (error) {
      if (!(error instanceof UnusableSettings)) throw error
      throw new CliError(`cannot use ${this.#disk.path}: ${error.message}. ${WAY_OUT}`)
    }
  }

  get version(): string {
    return this.#fresh().version
  }

  get sources(): SettingsSources {
    return this.#fresh().sources
  }

  get policy(): PolicyPatch {
    return this.#fresh().policy
  }

  get choice(): ModelChoice {
    return this.#fresh().choice
  }

  get rules(): SavedRules {
    return this.sources.saved.tools ?? {}
  }

  /** Why the file is currently not used. */
  get problem(): string | undefined {
    this.#fresh()
    return this.#problem
  }

  /** Called after each effective change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Optimistic: fails unless the settings are still at `version`. Flushed to disk before it returns. */
  change(version: string, change: SettingsChange): void {
    // First, so that no error message can leak the key.
    if (change.key !== undefined) this.#options.redact.learn({ known: [change.key] })
    this.#checkUsable()
    const { version: now, sources } = this.#fresh()
    if (version !== now) {
      throw new HttpError(
        412,
        'settings_changed',
        'The settings have changed since. Read them again, then change them.',
      )
    }
    const saved = changedSettings(sources, change)
    if (saved instanceof Refusal) throw saved
    const isNew = JSON.stringify(saved) !== JSON.stringify(sources.saved)
    if (isNew || this.#problem !== undefined) this.#save(saved)
  }

  /** Flushed to disk before it returns. */
  changeRules(changes: readonly RuleChange[]): void {
    this.#checkUsable()
    const { sources } = this.#fresh()
    const { tools: before = {}, ...others } = sources.saved
    const tools = withRules(before, changes)
    this.#save(Object.keys(tools).length > 0 ? { ...others, tools } : others)
  }

  /** A deleted file is written again; one that another program changed is not overwritten. */
  #checkUsable(): void {
    if (this.problem === undefined || this.#stamp === '') return
    throw new HttpError(409, 'settings_unreadable', this.problem, { file: SETTINGS_FILE })
  }

  #save(saved: SavedSettings): void {
    try {
      this.#disk.write(saved)
    } catch (error) {
      if (!(error instanceof UnusableSettings)) throw error
      throw new HttpError(503, 'settings_not_saved', `The settings could not be saved: ${error.message}.`)
    }
    this.#stamp = this.#disk.stamp()
    this.#current = this.#load()
    this.#problem = undefined
    for (const listener of this.#listeners) listener()
  }

  /** Compares the file's stat, which takes microseconds and, unlike a watcher, misses no change. */
  #fresh(): Current {
    const stamp = this.#disk.stamp()
    if (stamp === this.#stamp) return this.#current
    this.#stamp = stamp
    try {
      if (this.#options.role === 'owner') this.#checkUnchanged()
      else if (stamp !== '') this.#current = this.#load()
      this.#problem = undefined
    } catch (error) {
      if (!(error instanceof UnusableSettings)) throw error
      const way = stamp === '' ? 'The next change writes it again.' : WAY_OUT
      this.#problem = `${SETTINGS_FILE} in the data folder cannot be used: ${error.message}. The settings before it count. ${way}`
    }
    return this.#current
  }

  #checkUnchanged(): void {
    const { bytes } = this.#disk.read()
    if (versionOf(bytes, this.#options.secret) === this.#current.version) return
    throw new UnusableSettings(bytes.length === 0 ? 'it is gone' : 'another program wrote it')
  }

  #load(): Current {
    const { fixed, file, environment, redact, secret, role } = this.#options
    const { bytes, saved: read, isSealed } = this.#disk.read()
    const { known, suspected } = secretsInUrl(read.base_url ?? '')
    redact.learn({ known: [...known, ...(read.key ? [read.key.value] : [])], suspected })
    if (!isSealed && role === 'owner') throw new UnusableSettings(NOT_OURS)
    const saved = isSealed ? read : stricter(read, file)
    const variables = Object.fromEntries(Object.entries(PROVIDER_KEYS).filter(([, name]) => environment[name]))
    const sources = { fixed, saved, file, variables }
    const policy = policyOf(sources)
    const problem = policyProblem(policy)
    if (problem) throw new UnusableSettings(problem.message.replace(/\.$/, ''))
    const choice = {
      model: modelOf(sources),
      assessor: assessorOf(sources),
      connectionOf: (name: string) => connectionOf(sources, name),
    }
    return { version: versionOf(bytes, secret), sources, policy, choice }
  }
}

const NOT_OURS = "no server with the person's present token wrote it"
const WAY_OUT = 'Delete it, and set the settings again on the page.'

/** Applies only stricter values, as for a project's settings. */
function stricter({ review, review_timeout_ms, gate }: SavedSettings, file: PolicyPatch): SavedSettings {
  const { policy } = tightening({ review, review_timeout_ms, gate }, file)
  return policy as SavedSettings
}

const versionOf = (bytes: Buffer, secret: string): string =>
  createHmac('sha256', secret).update('settings').update(bytes).digest('base64url').slice(0, 22)
