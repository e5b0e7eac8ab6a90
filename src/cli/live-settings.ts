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
import { HttpError } from '../http/http-error.ts'
import type { ModelChoice } from '../runner/live-models.ts'
import { PROVIDER_KEYS } from '../runner/provider-keys.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { SETTINGS_FILE } from './default-paths.ts'
import { SettingsOnDisk, UnusableSettings } from './saved-settings.ts'

export interface LiveSettingsOptions {
  /** The data folder. */
  readonly data: string
  readonly fixed: FixedSettings
  /** The policy of the settings files that count. */
  readonly file: PolicyPatch
  readonly environment: Environment
  /** Hears of each key as soon as it is known. */
  readonly redact: LearningRedactor
  /** The person's token: what the page holds is sealed with it. */
  readonly secret: string
  /**
   * `owner`: the server, which alone writes the file. What another program makes of it does not count. `follower`: follows
   * what the server writes; if it has not the server's token, only what is stricter counts, as of a project's settings.
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
 * The settings of this process as they are now: what options, variables and files say, and what the page holds. Agents can
 * often write files: what is in the page's file counts only if a server with the person's token wrote it.
 */
export class LiveSettings {
  readonly #disk: SettingsOnDisk
  readonly #options: LiveSettingsOptions
  readonly #listeners = new Set<() => void>()
  #stamp: string
  #current: Current
  #problem: string | undefined

  /** Throws if the file cannot be used: what it says may be stricter than what is said elsewhere. */
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

  /** The policy of new conversations. */
  get policy(): PolicyPatch {
    return this.#fresh().policy
  }

  get choice(): ModelChoice {
    return this.#fresh().choice
  }

  /** What a person said about tools. */
  get rules(): SavedRules {
    return this.sources.saved.tools ?? {}
  }

  /** Why the file is not used as it is now. */
  get problem(): string | undefined {
    this.#fresh()
    return this.#problem
  }

  /** Calls the listener after each change of what counts. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Changes what the page holds, if that is still `version`. It is on disk before this returns. */
  change(version: string, change: SettingsChange): void {
    // Before anything can fail and say why.
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

  /** Changes what a person said about tools. It is on disk before this returns. */
  changeRules(changes: readonly RuleChange[]): void {
    this.#checkUsable()
    const { sources } = this.#fresh()
    const { tools: before = {}, ...others } = sources.saved
    const tools = withRules(before, changes)
    this.#save(Object.keys(tools).length > 0 ? { ...others, tools } : others)
  }

  /** A file that is gone is written again; another one is not overwritten. */
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

  /** Looks at the file by its stamp: that takes microseconds, and no watcher misses a change. */
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

  /** Throws if the file is not as this process read or wrote it. */
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

/** As of a project's settings, nothing else may count. */
function stricter({ review, review_timeout_ms, gate }: SavedSettings, file: PolicyPatch): SavedSettings {
  const { policy } = tightening({ review, review_timeout_ms, gate }, file)
  return policy as SavedSettings
}

const versionOf = (bytes: Buffer, secret: string): string =>
  createHmac('sha256', secret).update('settings').update(bytes).digest('base64url').slice(0, 22)
